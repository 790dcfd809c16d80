/*
 * errand.c - a thread examines files once a second. The loop cannot do it: a lost disk does not
 * answer for minutes, reading a large CRL takes a second, and reading a hundred thousand
 * participants takes several. Rejected: inotify; it does not report files on network disks, and
 * misses a newly mounted folder.
 */
#include "router/connection/errand.h"

#include "router/connection/loop_budget.h"

#include <stdlib.h>

/* Threads of libuv; all those that examine files may be waiting for a lost disk. */
static const char threads[] = "8";

void errands_init(void)
{
    (void)setenv("UV_THREADPOOL_SIZE", threads, 0);
}

static void on_thread(uv_work_t *work)
{
    LIST_ELEMENT(work, struct errand, work)->sort->work(work->data);
}

static void on_done(uv_work_t *work, int status);

/* Starts the work on a thread. Returns false when it runs already, or there is nothing to do. */
static bool set_out(struct edge *edge, struct errand *errand)
{
    const struct errand_sort *sort = errand->sort;

    if (errand->is_out || !sort || !(sort->begin ? sort->begin(edge) : !edge->stopping))
        return false;
    errand->is_out = true;
    errand->work.data = edge;
    if (uv_queue_work(&edge->loop, &errand->work, on_thread, on_done))
        abort(); /* it only fails without a function */
    return true;
}

static void begin(struct edge *edge, struct errand *errand)
{
    if (errand->is_out)
        return;
    errand->is_asked = errand->asked != errand->begun;
    if (set_out(edge, errand))
        errand->begun = errand->asked;
}

static void on_done(uv_work_t *work, int status)
{
    struct errand *errand = LIST_ELEMENT(work, struct errand, work);
    struct edge *edge = work->data;
    bool more = errand->sort->take(edge);

    (void)status; /* it is never cancelled */
    errand->is_out = false;
    if (more && set_out(edge, errand))
        return;
    errand->done = errand->begun;
    errand_go_on(edge, errand);
}

void errand_look(struct edge *edge, struct errand *errand)
{
    int64_t now_ms = edge_now(edge).mono_ms;

    if (errand->is_out || now_ms - errand->looked_ms < TICK_MS)
        return;
    errand->looked_ms = now_ms;
    begin(edge, errand);
}

uint64_t errand_ask(struct edge *edge, struct errand *errand)
{
    if (errand->sort)
        errand->asked = errand->begun + 1;
    begin(edge, errand);
    return errand->asked;
}

void errand_go_on(struct edge *edge, struct errand *errand)
{
    if (errand->asked != errand->begun)
        begin(edge, errand);
}

/* ---- signatures ---- */

/*
 * The order depends on keys tried, not on requests: a token without a key id is tried with several
 * keys. Each network has a bucket that gains one try for each try done for any network. So a quiet
 * network precedes a busy one, however many connections that has, and waits for one round of the
 * other networks at most. Rejected: several threads; an unauthenticated client could use all
 * processors.
 */

/* One try for each unit of `tried`, which is the clock of the buckets. */
enum { TRIES_PER_MINUTE = 60000 };

/*
 * of           where the connection expects the signature back
 * connection   NULL when the connection waits no longer
 * turn         the order: the smallest is next
 */
struct signing {
    struct link link;
    struct jwt_signature signature, *of;
    struct connection *connection;
    void (*go_on)(struct connection *connection);
    int64_t turn;
};

static void end_signing(struct signing *signing)
{
    list_remove(&signing->link);
    jwt_signature_fini(&signing->signature);
    free(signing);
}

static bool begin_next(struct edge *edge)
{
    struct signatures *signatures = &edge->signatures;

    signatures->now = LIST_FIRST(&signatures->waiting, struct signing, link);
    if (!signatures->now)
        return false;
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
        loop_budget_release(connection);
        signing->go_on(connection);
    }
    end_signing(signing);
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

/* Inserts it behind those of the same turn. */
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
    loop_budget_hold(connection);
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
        end_signing(signing);
}
