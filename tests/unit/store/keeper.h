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
 * opening   what keeper_load gave last
 * texts     what keeper_texts gave last
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
    struct stored_topic_load *load;
    struct mcpx_text texts;
};

/** The one of the suite that runs, and its init and fini. */
extern struct keeper keeper;
void keeper_begin(void);
void keeper_end(void);

/** Opens it, or fails the test. */
void keeper_start(void);

/** Opens it in vain; what is said holds these words. */
void keeper_expect_refusal(const char *words);

/** Stores a message in it, or fails the test. */
void keeper_says(const char *topic, const char *text);

/** Its topic has these texts, with a blank between them. */
void keeper_expect(const char *topic, const char *expected, const char *name);

/** Makes a folder; nothing is opened. */
void keeper_init(struct keeper *one);

/** Opens the database. */
enum mcpx_err keeper_open(struct keeper *one);

/** Ends the stage; the files stay. */
void keeper_close(struct keeper *one);

/** Ends it and removes the folder. */
void keeper_fini(struct keeper *one);

/** Something to be stored: a message, unless `what` is set afterwards. Slices are borrowed. */
struct submission keeper_message(struct keeper *one, const char *topic, const char *text);

/** Hands over `count` submissions at once and waits until all are answered, in their order. */
void keeper_put(struct keeper *one, struct submission *submissions, size_t count);

/** Stores one message, as a batch of its own. */
struct rejection keeper_store(struct keeper *one, const char *topic, const char *text);

/** Waits until the stage tells that it is in this state. */
void keeper_wait_for(struct keeper *one, enum stage_state state);

/** Opens a topic; gives what was read, until the next call. */
struct stored_topic_load *keeper_load(struct keeper *one, const char *topic);

/** The texts of a topic that is opened, with a blank between them; until the next call. */
const char *keeper_texts(struct keeper *one, const char *topic);

/** Lets the hub let go of a topic. */
void keeper_let_go(struct keeper *one, const char *topic);

/** The first column of the first row, asked on a connection of its own. */
long long keeper_ask(const struct keeper *one, const char *question);

/** Runs statements on a connection of its own, beside the stage or without it. */
void keeper_run(const struct keeper *one, const char *statements);

/** Bytes of the database's file, or of the one with something behind its name; -1 = not there. */
long long keeper_size(const struct keeper *one, const char *behind);

#endif
