/*
 * errand.h - work that may wait for a disk, or takes milliseconds: a thread does it, the loop takes
 * the result. Each errand runs on one thread at a time, so a slow disk delays only its own errand.
 */
#ifndef EDGE_ERRAND_H
#define EDGE_ERRAND_H

#include "lib/base/bucket.h"
#include "router/hub/log/list.h"
#include "router/policy/identity/jwt.h"
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct edge;

/** The functions of an errand. */
struct errand_sort {
    /* The loop prepares the work; false = nothing to do now. NULL = there always is, until the
     * router stops. */
    bool (*begin)(struct edge *edge);
    /* A thread does the work; meanwhile the loop does not change its data. */
    void (*work)(struct edge *edge);
    /* The loop takes the result. True = there may be more work; `begin` is called again. */
    bool (*take)(struct edge *edge);
};

/** Zeroed but for `sort` it is idle; without `sort` it never runs. */
struct errand {
    uv_work_t work;
    const struct errand_sort *sort;
    bool is_out;   /* it runs; the router does not end before it */
    bool is_asked; /* requested, not only a look; the thread reads it, too */
    /* The numbers of the last run requested, begun and finished. */
    uint64_t asked, begun, done;
    int64_t looked_ms; /* mono_ms of the last look */
};

/** Sets the number of threads. Call it before the first errand. */
void errands_init(void);

/** Begins the errand unless it runs, at most once a second. */
void errand_look(struct edge *edge, struct errand *errand);

/**
 * Requests a run: now, or after the present one, and then one for all requests. Returns its number,
 * for errand_is_done. A run that cannot begin waits for errand_go_on.
 */
uint64_t errand_ask(struct edge *edge, struct errand *errand);

/** Begins a requested run, if there is one. */
void errand_go_on(struct edge *edge, struct errand *errand);

/** True when the runs up to that number are finished. */
static inline bool errand_is_done(const struct errand *errand, uint64_t number)
{
    return errand->done >= number;
}

/*
 * ---- signatures by public keys, one after the other on a thread: each takes up to milliseconds,
 * and unauthenticated clients may cause many.
 */

struct connection;
struct signing;

/**
 * The waiting ones, the next first; `now` is being verified, or NULL. Networks take turns: the
 * bucket of each gains one try for each key tried. `tried` counts the keys tried; `shares` has the
 * buckets, with `tried` as their clock.
 */
struct signatures {
    struct errand errand;
    struct link waiting;
    struct signing *now;
    struct mx_buckets shares;
    int64_t tried;
};

/** Prepares it; `key` is the secret for hashing addresses. */
void signatures_init(struct signatures *signatures, struct mx_map_key key);

/**
 * Verifies a signature on the thread, then calls `go_on`. Meanwhile the connection is not read.
 *
 * signature   moved away, and back before `go_on`; its place must exist while the connection waits
 *
 * Returns false when memory runs out.
 */
bool signatures_ask(struct connection *connection, struct jwt_signature *signature,
                    void (*go_on)(struct connection *));

/** Ends the connection's wait, if there is one. */
void signatures_forget(struct connection *connection);

#endif
