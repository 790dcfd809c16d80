/* live_ask.c - sends an envelope and waits for its answer. */
#include "tools/mcpxctl/core/live.h"

#include "tools/common/visible.h"
#include "tools/mcpxctl/core/line.h"

#include <stdio.h>

enum { CALL_MS = 60000, NOTE_MAX = 500 };

/* Names the kind and the addressees that the router would have seen. */
static int complain_of_grants(const struct mcpx_draft *draft)
{
    static struct mcpx_rpc rpc;
    char kind[MCPX_KIND_MAX + 1];
    bool derived = mcpx_rpc_read(draft->payload, &rpc, NULL) == MCPX_OK &&
                   mcpx_rpc_kind(&rpc, draft->type, kind) == MCPX_OK;
    mx_scoped_text subject = {0};

    text_format(&subject, "%s to ", derived ? kind : draft->type);
    addressees_write(&subject, draft->to, draft->to_count);
    return fail_with(
        STATUS_REFUSED, "refused: no grant covers %s; mcpxctl can shows why%s", subject.text,
        strcmp(draft->type, "mcp/request") == 0 ? ", mcpxctl propose may be allowed" : "");
}

static int complain_of_draft(struct live *live, const struct mcpx_draft *draft,
                             enum mcpx_err err, const struct mcpx_fault *fault)
{
    switch (err) {
    case MCPX_EINVALID:
    case MCPX_EKIND:
        return fail_with(STATUS_USAGE, "cannot be sent: %s%s%s", fault->field,
                         fault->field[0] ? ": " : "", fault->reason);
    case MCPX_ETOOBIG:
        return fail_with(
            STATUS_USAGE,
            "a payload of %zu bytes does not fit, with its envelope, into a message of at "
            "most %zu bytes (the router's setting limits.message_bytes)",
            draft->payload.len, mcpx_session_message_max(mcpx_client_session(live->client)));
    default:
        return fail_with(err == MCPX_EUTF8 ? STATUS_USAGE : STATUS_FAILED, "%s",
                         mcpx_strerror(err));
    }
}

int live_send(struct live *live, const struct mcpx_draft *draft)
{
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_slice id;
    enum mcpx_err err = memory_checked(mcpx_client_send(live->client, draft, &id, &fault));

    if (err == MCPX_ECAPABILITY)
        return complain_of_grants(draft);
    if (err)
        return complain_of_draft(live, draft, err, &fault);
    mcpx_text_reset(&live->sent);
    mcpx_text_slice(&live->sent, id);
    return STATUS_OK;
}

int live_refused(const struct mcpx_event *event)
{
    mx_scoped_text reason = {0}, instead = {0};

    text_visible_short(&reason, event->reason, NOTE_MAX);
    text_visible_short(&instead, event->alternative, NOTE_MAX);
    complain(
        "the router refuses: %s%s%s", reason.len > 0 ? reason.text : mcpx_strerror(event->err),
        instead.len > 0 ? "; the alternative is " : "", instead.len > 0 ? instead.text : "");
    return event->err == MCPX_ECAPABILITY ? STATUS_REFUSED : STATUS_FAILED;
}

bool live_is_ours(const struct live *live, const struct mcpx_event *event)
{
    struct mcpx_slice sent = mcpx_text_view(&live->sent);

    return sent.len > 0 &&
           (mcpx_slice_equal(event->own, sent) || mcpx_slice_equal(event->proposal, sent));
}

int live_settle(struct live *live, int64_t timeout_ms)
{
    int64_t deadline = live_deadline(timeout_ms);
    struct mcpx_event event;
    int status;

    live->waiting_for = "the router";
    live->waiting_since = live_now();
    do {
        status = live_next(live, deadline, &event);
    } while (status == STATUS_OK &&
             !(live_is_ours(live, &event) &&
               (event.type == MCPX_EVENT_DELIVERED || event.type == MCPX_EVENT_REFUSED)));
    if (status == STATUS_OK && event.type == MCPX_EVENT_REFUSED)
        status = live_refused(&event);
    live->waiting_for = NULL;
    if (status == STATUS_TIMEOUT)
        fail_of(status, mcpx_text_view(&live->sent),
                ": the router has not confirmed delivery; see mcpxctl status");
    return status;
}

static void tell_progress(const struct mcpx_event *event)
{
    struct mcpx_slice params = event->rpc->params;
    struct mcpx_slice total = mcpx_json_get(params, "total");
    struct mcpx_slice message = mcpx_json_get(params, "message");
    mx_scoped_text note = {0};

    if (!mcpx_slice_equal(event->rpc->method, MCPX_SLICE("notifications/progress")))
        return;
    text_visible_value(&note, mcpx_json_get(params, "progress"), NOTE_MAX);
    mcpx_text_puts(&note, total.text ? "/" : "");
    text_visible_value(&note, total, NOTE_MAX);
    mcpx_text_puts(&note, message.text ? " " : "");
    text_visible_value(&note, message, NOTE_MAX);
    complain("progress %s", note.len > 0 ? note.text : "");
}

void live_decline(struct live *live, const struct mcpx_event *event)
{
    static const struct mx_rate rate = {600, 60};
    mx_scoped_text payload = {0};

    if (event->envelope->to_count == 0 ||
        !mx_bucket_take(&live->declined, rate, 1, live_now()))
        return;
    mx_format(&payload,
              "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,"
              "\"message\":\"mcpxctl asks, and does not answer\"}}",
              event->rpc->id);
    memory_checked(
        mcpx_client_respond(live->client, event->envelope->id, text_whole(&payload), NULL));
}

/* Tells the responder that we no longer wait for the answer. */
static void cancel(struct live *live, const struct mcpx_draft *request)
{
    struct mcpx_draft draft = {
        .type = "mcp/request",
        .to = request->to,
        .to_count = request->to_count,
        .correlation_id = mcpx_text_view(&live->sent),
        .payload =
            MCPX_SLICE("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                       "\"params\":{\"requestId\":1,\"reason\":\"no longer waited for\"}}"),
    };

    memory_checked(mcpx_client_send(live->client, &draft, NULL, NULL));
}

static int judge(struct live *live, const struct mcpx_event *event, bool *done,
                 struct mcpx_text *response)
{
    *done = false;
    if (event->type == MCPX_EVENT_REQUEST)
        live_decline(live, event);
    if (!live_is_ours(live, event))
        return STATUS_OK;
    *done = event->type == MCPX_EVENT_RESPONSE || event->type == MCPX_EVENT_REFUSED;
    if (event->type == MCPX_EVENT_NOTIFICATION)
        tell_progress(event);
    if (event->type == MCPX_EVENT_RESPONSE)
        mcpx_text_slice(response, event->envelope->payload);
    return event->type == MCPX_EVENT_REFUSED ? live_refused(event) : STATUS_OK;
}

int live_response(struct live *live, const struct mcpx_draft *request, int64_t timeout_ms,
                  struct mcpx_text *response)
{
    int64_t deadline = live_deadline(timeout_ms), missing_until = INT64_MAX;
    struct mcpx_event event;
    bool done = false;
    int status = STATUS_OK;

    live->waiting_since = live_now();
    while (status == STATUS_OK && !done) {
        bool missing = missing_until < deadline;

        status = live_next(live, missing ? missing_until : deadline, &event);
        if (status == STATUS_OK)
            status = judge(live, &event, &done, response);
        if (status == STATUS_OK && !done)
            missing = !live_awaits(live, request->to[0], &event, &missing_until);
        else
            missing = status == STATUS_TIMEOUT && missing;
        if (missing)
            status = fail_of(STATUS_FAILED, request->to[0], " left the topic");
    }
    live->waiting_for = NULL;
    if (status == STATUS_TIMEOUT)
        fail_of(status, request->to[0], " has not answered within %.3f s",
                (double)timeout_ms / 1000);
    if (status == STATUS_TIMEOUT || status == STATUS_INTERRUPTED)
        cancel(live, request);
    return status;
}

int live_call(const struct arguments *arguments, const struct mcpx_draft *request,
              const char *waiting_for, struct mcpx_text *response)
{
    int64_t timeout = arguments_ms(arguments, "--timeout", CALL_MS);
    struct live live;
    int status = live_join(arguments, 0, &live);

    if (status == STATUS_OK)
        status =
            live_has_all(&live, request->to, request->to_count, "mcpxctl who tells who is");
    if (status == STATUS_OK)
        status = live_send(&live, request);
    live.waiting_for = waiting_for;
    if (status == STATUS_OK)
        status = live_response(&live, request, timeout, response);
    live_leave(&live);
    return status;
}
