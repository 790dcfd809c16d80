/*
 * keeper.h - a database in a folder of its own, and what is kept in it, for tests of the stage that
 * writes it.
 */
#ifndef TEST_KEEPER_H
#define TEST_KEEPER_H

#include "router/store/sqlite/sqlite.h"

#include <semaphore.h>

/**
 * config    to be changed before keeper_open; `file` is FOLDER/messages.db
 * woken     posted whenever answers wait
 * errors    what was said when it could not be opened
 * report    as the stage told it last
 */
struct keeper {
    struct store_config config;
    char folder[64];
    char file[96];
    sem_t woken;
    struct mcpx_text errors;
    struct sqlite *sqlite;
    struct stage_report report;
    uint64_t ticket;
};

/** Makes a folder; nothing is opened. */
void keeper_init(struct keeper *keeper);

/** Opens the database. */
enum mcpx_err keeper_open(struct keeper *keeper);

/** Ends the stage; the files stay. */
void keeper_close(struct keeper *keeper);

/** Ends it and removes the folder. */
void keeper_fini(struct keeper *keeper);

/** Something to be stored: a message, unless `what` is set afterwards. Slices are borrowed. */
struct submission keeper_message(struct keeper *keeper, const char *topic, const char *text);

/** Hands over `count` submissions at once and waits until all are answered, in their order. */
void keeper_put(struct keeper *keeper, struct submission *submissions, size_t count);

/** Stores one message, as a batch of its own. */
struct rejection keeper_store(struct keeper *keeper, const char *topic, const char *text);

/** Waits until the stage tells that it is in this state. */
void keeper_wait_for(struct keeper *keeper, enum stage_state state);

/** Opens a topic; gives what was read. */
struct stored_opening *keeper_load(struct keeper *keeper, const char *topic);

/** The texts of a topic that is opened, with a blank between them; to be freed. */
char *keeper_texts(struct keeper *keeper, const char *topic);

/** Lets the hub let go of a topic. */
void keeper_let_go(struct keeper *keeper, const char *topic);

/** The first column of the first row, asked on a connection of its own. */
long long keeper_ask(const struct keeper *keeper, const char *question);

/** Runs statements on a connection of its own, beside the stage or without it. */
void keeper_run(const struct keeper *keeper, const char *statements);

/** Bytes of the database's file, or of the one with something behind its name; -1 = not there. */
long long keeper_size(const struct keeper *keeper, const char *behind);

#endif
