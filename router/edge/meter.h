/*
 * meter.h - rates of any number of names in memory that does not grow. Time is an argument.
 */
#ifndef EDGE_METER_H
#define EDGE_METER_H

#include "lib/core/map.h"

/** Cells of a row, and rows. */
enum { METER_CELLS = 4096, METER_ROWS = 2 };

/**
 * What may be spent: so much flows in per minute, and at most `burst` is there at once.
 * Both below 2^36; per_minute 0 = no limit.
 */
struct meter_rate {
    uint64_t per_minute;
    uint64_t burst;
};

/** What is missing from a full bucket, in 60,000ths, at an instant. Zeroed is full. */
struct meter_cell {
    uint64_t spent;
    int64_t at_ms;
};

/** Spends `cost`, however much is there; never more than a minute's worth is owed beyond. */
void meter_cell_spend(struct meter_cell *cell, struct meter_rate rate, uint64_t cost,
                      int64_t now_ms);

/** Puts `cost` back; a full bucket stays full. */
void meter_cell_return(struct meter_cell *cell, struct meter_rate rate, uint64_t cost,
                       int64_t now_ms);

/** Milliseconds until `cost` is there; 0 when it is now. */
int64_t meter_cell_wait_ms(const struct meter_cell *cell, struct meter_rate rate,
                           uint64_t cost, int64_t now_ms);

/**
 * Buckets for names. Nothing is ever evicted, so nobody can make it forget what anybody has spent:
 * a name has a cell in each row, chosen by a secret key, and has spent what the fuller of its
 * buckets says. Names that share a cell are told apart by the other row. Zeroed but for `key` it
 * is ready.
 */
struct meter {
    struct mx_map_key key;
    struct meter_rate rate;
    struct meter_cell cells[METER_ROWS][METER_CELLS];
};

/** Milliseconds until the name may spend `cost`; 0 when it may now. */
int64_t meter_wait_ms(const struct meter *meter, struct mcpx_slice name, uint64_t cost,
                      int64_t now_ms);

/** The name spends `cost`, whether it may or not. */
void meter_spend(struct meter *meter, struct mcpx_slice name, uint64_t cost, int64_t now_ms);

/** The name has `cost` back. */
void meter_return(struct meter *meter, struct mcpx_slice name, uint64_t cost, int64_t now_ms);

#endif
