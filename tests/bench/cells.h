/*
 * cells.h - the parts of the macro benchmark. Each prints its rows.
 */
#ifndef BENCH_CELLS_H
#define BENCH_CELLS_H

#include <stdbool.h>

/** True when the cell was asked for: its name, or the beginning of it, or nothing at all. */
bool cell_is_wanted(const char *name);

/** One topic, 100 or 1,000 readers: f100-256, f100-4k, f100-64k, s100-256, lat100, f1000-... */
void cells_fanout(void);

/** 100 topics of one publisher and one reader: p2p100. */
void cells_pairs(void);

/** 1,000 readers that skip nine of ten messages: directed. */
void cells_directed(void);

/** Late joiners that are sent 1,000 messages: join. */
void cells_join(void);

/** 1,000 and 5,000 idle connections: memory, and what they cost the others: idle. */
void cells_idle(void);

/** The same as f100 and f1000 under TLS, beside others: tls100-256, tls1000-4k, ... */
void cells_tls(void);

/** Constants of the scale model, and how well it predicts three rooms: model. */
void cells_model(void);

#endif
