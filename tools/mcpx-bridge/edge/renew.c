/*
 * renew.c - asks on a thread of libuv, because nothing else may wait for a router that does not answer.
 * When to connect again is the client's to say: if its next attempt comes too early, that is one
 * more refusal, and asks again.
 */
#include "tools/mcpx-bridge/edge/renew.h"

enum { ASK_MS = 10000 };

static void ask(uv_work_t *work)
{
    struct renewal *renewal = work->data;

    renewal->status = connection_ask(renewal->where, ASK_MS, &renewal->token);
}

static void on_asked(uv_work_t *work, int status)
{
    struct renewal *renewal = work->data;

    renewal->busy = false;
    if (renewal->client && !status && renewal->status == STATUS_OK) {
        mcpx_client_renew(renewal->client, renewal->token);
        complain(renewal->verb, "the router gave a new token");
    } else if (renewal->client && renewal->status == STATUS_ABSENT) {
        mcpx_client_renew(renewal->client, NULL);
        complain(renewal->verb, "the router gives no tokens: it runs without --dev now");
    }
    connection_wipe(renewal->token);
    renewal->token = NULL;
}

void renewal_look(struct renewal *renewal, uv_loop_t *loop, const struct mcpx_event *event)
{
    bool about_token = mcpx_error_again(event->code) == MCPX_AGAIN_TOKEN;

    if (event->type != MCPX_EVENT_LEFT || event->retry_ms < 0 || !about_token ||
        !renewal->where->as || renewal->busy)
        return;
    renewal->work.data = renewal;
    renewal->busy = uv_queue_work(loop, &renewal->work, ask, on_asked) == 0;
}
