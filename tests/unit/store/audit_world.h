/*
 * audit_world.h - an audit's stage with a folder of its own, as the loop has it.
 */
#ifndef UNIT_AUDIT_WORLD_H
#define UNIT_AUDIT_WORLD_H

#include "router/store/audit/audit.h"
#include "router/store/audit/audit_verify.h"
#include "router/store/commit/submission.h"

enum { WORLD_SUBMISSIONS = 5000 };

/**
 * The world. `config` may be changed before world_open.
 *
 * key          with which lines are signed; the PEM is in `key_path`
 * submissions  whatever world_send takes
 * answered     in the order in which they came back
 */
struct world {
    char root[64], folder[96], key_path[96];
    struct audit_key *key;
    struct audit_config config;
    struct audit *audit;
    struct stage_report report;
    struct submission submissions[WORLD_SUBMISSIONS];
    size_t sent;
    struct submission *answered[WORLD_SUBMISSIONS];
    size_t answered_count;
    int wakes[2];
};

/** The one of the test that runs. */
extern struct world world;

/** Makes it, with a new folder and key: the init of a suite. */
void world_new(void);

/** Opens the audit; complaints go to `errors`, which may be NULL. */
enum mcpx_err world_open(struct mcpx_text *errors);

/** Puts `count` submissions with texts of `bytes` bytes, in one list. */
void world_send(size_t count, size_t bytes);

/** Waits until all that was sent is answered. */
void world_settle(void);

/** Takes what is answered, waiting at most until something is. */
void world_take(void);

/** Ends the audit, as the end of the router does. */
void world_close(void);

/** What verify says of the folder. */
struct audit_verdict world_verify(bool is_ended);

/** What verify says is that nothing is wrong; nothing is uncovered where the audit was ended. */
void world_expect_whole(bool is_ended);

/** How many lines of a sort there are; `found` is called with each, and may be NULL. */
size_t world_count(const char *what,
                   void (*found)(void *context, const struct audit_line *line), void *context);

/** The number in a member; 0 when there is none. */
uint64_t world_number(const struct audit_line *line, const char *name);

/** Removes everything: the fini of a suite. */
void world_free(void);

#endif
