/*
 * vault.h - whoever stores what a hub accepts, worked by hand. What the hub hands out is known by
 * what it is:
 *
 *     "join alice"   "update alice"   "leave alice"   "m1"   "open room"   "close room"
 */
#ifndef TESTS_VAULT_H
#define TESTS_VAULT_H

#include "router/store/commit/submission.h"
#include "tests/support/world.h"

enum { VAULT_MAX = 2048 };

/** A task that was not answered. */
struct vault_task {
    char name[80];
    struct task task;
};

/** The vault. */
struct vault {
    struct world *world;
    struct vault_task tasks[VAULT_MAX];
    size_t count;
    struct mcpx_text taken;
};

/** Makes a world whose hub needs commits, and its vault. `config` is changed to need them. */
struct vault *vault_new(struct hub_config config);

/** Frees the last one that was made, whatever is pending: a suite's `.fini`. */
void vault_end(void);

/** Takes all tasks there are, and compares those taken since the last call: "join alice\nm1\n". */
#define vault_expect(vault, names) vault_expect_at((vault), (names), __FILE__, __LINE__)
void vault_expect_at(struct vault *vault, const char *names, const char *file, int line);

/** Takes all tasks there are. */
void vault_take(struct vault *vault);

/** The task with this name, which is not answered. Fails the test when there is none. */
const struct task *vault_task(struct vault *vault, const char *name);

/** Answers the first task with this name. */
void vault_commits(struct vault *vault, const char *name);
void vault_refuses(struct vault *vault, const char *name);
void vault_loses(struct vault *vault,
                 const char *name); /* nobody knows whether it is stored */

/** Commits all there is, and what follows from that. */
void vault_commits_all(struct vault *vault);

/** Somebody joins, and all that is pending is committed. */
void vault_joins(struct vault *vault, const char *name, const char *grants);

#endif
