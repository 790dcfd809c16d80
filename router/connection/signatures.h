/*
 * signatures.h - signatures by public keys, one after the other on a thread: each takes up to
 * milliseconds, and strangers may ask for many.
 */
#ifndef EDGE_SIGNATURES_H
#define EDGE_SIGNATURES_H

#include "lib/base/bucket.h"
#include "router/connection/errand.h"
#include "router/hub/log/list.h"
#include "router/policy/identity/jwt_keys.h"

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

/** The connection waits no longer, if it did. */
void signatures_forget(struct connection *connection);

#endif
