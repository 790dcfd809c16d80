/*
 * signatures.c - whose turn it is is a matter of keys tried, not of requests: a token that names no
 * key is tried with several. Each address has a bucket into which one try flows for each try there
 * is: so who has asked for nothing stands before those who have asked for much, however many
 * connections they have, and nobody waits for more than one round of the addresses that ask. All at
 * once on several threads was refused: a stranger would have all processors.
 */
#include "router/connection/signatures.h"

#include "router/connection/turn.h"

#include <stdlib.h>

/* So many tries flow in for each millisecond of `tried`. */
enum { TRIES_PER_MINUTE = 60000 };

/*
 * of           where its connection keeps the signature, which is here meanwhile
 * connection   NULL when it waits no longer
 * turn         the place in the order
 */
struct signing {
    struct link link;
    struct jwt_signature signature, *of;
    struct connection *connection;
    void (*go_on)(struct connection *connection);
    int64_t turn;
};

static void end(struct signing *signing)
{
    list_remove(&signing->link);
    jwt_signature_fini(&signing->signature);
    free(signing);
}

static bool begin_next(struct edge *edge)
{
    struct signatures *signatures = &edge->signatures;

    if (list_is_empty(&signatures->waiting))
        return false;
    signatures->now = LIST_ELEMENT(signatures->waiting.next, struct signing, link);
    list_remove(&signatures->now->link);
    if (signatures->tried < signatures->now->turn)
        signatures->tried = signatures->now->turn;
    return true;
}

static void verify(struct edge *edge)
{
    jwt_signature_verify(&edge->signatures.now->signature);
}

static bool take_verified(struct edge *edge)
{
    struct signing *signing = edge->signatures.now;
    struct connection *connection = signing->connection;

    edge->signatures.now = NULL;
    if (connection) {
        connection->signing = NULL;
        *signing->of = signing->signature;
        signing->signature = (struct jwt_signature){.count = 0};
        turn_release(connection);
        signing->go_on(connection);
    }
    end(signing);
    return true;
}

static const struct errand_sort verifying = {begin_next, verify, take_verified};

void signatures_init(struct signatures *signatures, struct mx_map_key key)
{
    signatures->errand.sort = &verifying;
    list_init(&signatures->waiting);
    signatures->shares.key = key;
    signatures->shares.rate = (struct mx_rate){TRIES_PER_MINUTE, 0};
}

/* Behind those of the same turn. */
static void stand_in_line(struct signatures *signatures, struct signing *signing)
{
    struct link *before = signatures->waiting.previous;

    while (before != &signatures->waiting &&
           LIST_ELEMENT(before, struct signing, link)->turn > signing->turn)
        before = before->previous;
    list_append(before->next, &signing->link);
}

bool signatures_ask(struct connection *connection, struct jwt_signature *signature,
                    void (*go_on)(struct connection *))
{
    struct signatures *signatures = &connection->edge->signatures;
    struct address network = address_network(connection->from);
    struct mcpx_slice address = address_slice(&network);
    struct signing *signing = calloc(1, sizeof *signing);

    if (!signing)
        return false;
    signing->signature = *signature;
    *signature = (struct jwt_signature){.count = 0};
    signing->of = signature;
    signing->go_on = go_on;
    signing->connection = connection;
    signing->turn =
        signatures->tried + mx_buckets_wait_ms(&signatures->shares, address,
                                               signing->signature.count, signatures->tried);
    mx_buckets_spend(&signatures->shares, address, signing->signature.count,
                     signatures->tried);
    connection->signing = signing;
    turn_hold(connection);
    list_init(&signing->link);
    stand_in_line(signatures, signing);
    (void)errand_ask(connection->edge, &signatures->errand);
    return true;
}

void signatures_forget(struct connection *connection)
{
    struct signing *signing = connection->signing;

    connection->signing = NULL;
    if (!signing)
        return;
    signing->connection = NULL;
    if (signing != connection->edge->signatures.now)
        end(signing);
}
