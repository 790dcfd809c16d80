/*
 * errand.h - work that may wait for a disk, or takes milliseconds: a thread does it, the loop
 * takes the result. Each errand is on one thread at a time, so a slow disk delays only its own
 * errand.
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

/** What it consists of. */
struct errand_sort {
    /* The loop prepares it; false = there is nothing to do now. NULL = always, until the router
     * stops. */
    bool (*begin)(struct edge *edge);
    /* A thread does it; the loop changes nothing meanwhile of what it looks at. */
    void (*work)(struct edge *edge);
    /* The loop takes what was found. True = and there may be more, which `begin` prepares. */
    bool (*take)(struct edge *edge);
};

/** Zeroed but for `sort`, nothing is under way; without a sort nothing ever is. */
struct errand {
    uv_work_t work;
    const struct errand_sort *sort;
    bool is_out;   /* it is under way; the router ends only behind it */
    bool is_asked; /* it was asked for, and is not only a look; for the thread, too */
    /* The last number that was asked for, that is under way, that has ended. */
    uint64_t asked, begun, done;
    int64_t looked_ms; /* mono_ms of the last look */
};

/** Before the first of all. */
void errands_init(void);

/** Begins it once a second, however often it is called, while it is not under way. */
void errand_look(struct edge *edge, struct errand *errand);

/**
 * Begins it at once, or behind what is under way: once for all who ask meanwhile. Returns the
 * number of that, for errand_is_done; one that cannot begin waits for errand_go_on.
 */
uint64_t errand_ask(struct edge *edge, struct errand *errand);

/** Begins what was asked for, if it was. */
void errand_go_on(struct edge *edge, struct errand *errand);

/** Has everything up to that number been taken? */
static inline bool errand_is_done(const struct errand *errand, uint64_t number)
{
    return errand->done >= number;
}

/*
 * ---- signatures by public keys, one after the other on a thread: each takes up to milliseconds,
 * and strangers may ask for many.
 */

struct connection;
struct signing;

/**
 * Those that wait, the next first, and the one that is verified now, or NULL. Networks take turns:
 * a signature has its place when its network has paid for it with keys that were tried for others;
 * `tried` counts these, and stands for the time of `shares`.
 */
struct signatures {
    struct errand errand;
    struct link waiting;
    struct signing *now;
    struct mx_buckets shares;
    int64_t tried;
};

/** Prepares; `key` is for addresses. */
void signatures_init(struct signatures *signatures, struct mx_map_key key);

/**
 * Has a signature verified that is wanted. Nothing is read from the connection meanwhile; then
 * `go_on` is called.
 *
 * signature   taken, and given back before go_on is called; stays where it is as long as the
 *             connection waits
 *
 * False when memory runs out.
 */
bool signatures_ask(struct connection *connection, struct jwt_signature *signature,
                    void (*go_on)(struct connection *));

/** Ends the connection's wait, if there was one. */
void signatures_forget(struct connection *connection);

#endif
