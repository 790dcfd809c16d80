/*
 * send.c - from a draft to an envelope in the outbox. It makes all checks of the router and the
 * receivers, because here the caller can still be told the error. The payload's bytes are sent
 * unchanged.
 */
#include "lib/base/fault.h"
#include "lib/base/scoped.h"
#include "lib/json/json_write.h"
#include "lib/session/session_state.h"

#include <stdio.h>
#include <stdlib.h>

struct drafting {
    const struct mcpx_draft *draft;
    struct mcpx_fault *fault;
    struct mcpx_slice payload; /* the caller's, without the white space around it */
    char kind_text[MCPX_KIND_MAX + 1];
    struct mcpx_kind kind;
    struct mcpx_rpc rpc; /* what it says, once it was read */
    bool is_rpc;         /* its type is one of the three whose payload is JSON-RPC */
    bool waits;          /* an answer to it is awaited */
};

static bool is_type(const struct drafting *drafting, const char *type)
{
    return mcpx_slice_equal(drafting->kind.type, mcpx_slice_of(type));
}

/* The kind as it stands, or made of the payload for a bare mcp/request or mcp/proposal. */
static enum mcpx_err read_kind(struct drafting *drafting)
{
    const char *type = drafting->draft->type;
    size_t len = strlen(type);
    enum mcpx_err err;

    if (len > MCPX_KIND_MAX)
        len = MCPX_KIND_MAX + 1; /* it will be refused for its length */
    err = mcpx_kind_parse((struct mcpx_slice){type, len}, &drafting->kind, drafting->fault);
    if (err)
        return err;
    memcpy(drafting->kind_text, type, len + 1);
    drafting->is_rpc = is_type(drafting, "mcp/request") || is_type(drafting, "mcp/response") ||
                       is_type(drafting, "mcp/proposal");
    if (!drafting->is_rpc)
        return MCPX_OK;
    if (!drafting->rpc.text.text)
        err = mcpx_rpc_read(drafting->payload, &drafting->rpc, drafting->fault);
    if (err)
        return err;
    if (drafting->kind.method.text || is_type(drafting, "mcp/response"))
        return MCPX_OK;
    if (!drafting->rpc.method.text)
        return mx_fault_set(drafting->fault, "expected a message with a method", "method", 0);
    return mcpx_rpc_kind(&drafting->rpc, type, drafting->kind_text);
}

static enum mcpx_err check_kind(struct drafting *drafting)
{
    enum mcpx_err err = read_kind(drafting);

    if (!err)
        err = mcpx_kind_parse(mcpx_slice_of(drafting->kind_text), &drafting->kind,
                              drafting->fault);
    if (!err && drafting->is_rpc && drafting->rpc.form == MCPX_RPC_REQUEST &&
        drafting->rpc.id.len > MX_RPC_ID_MAX)
        return mx_fault_set(drafting->fault, "expected a JSON-RPC id of at most 1024 bytes",
                            "id", 0);
    if (!err && drafting->is_rpc)
        err = mcpx_rpc_agrees(&drafting->rpc, &drafting->kind, drafting->fault);
    if (err)
        return err;
    drafting->waits =
        is_type(drafting, "mcp/proposal") ||
        (is_type(drafting, "mcp/request") && drafting->rpc.form == MCPX_RPC_REQUEST);
    return MCPX_OK;
}

static enum mcpx_err check_head(struct drafting *drafting)
{
    const struct mcpx_draft *draft = drafting->draft;

    if (draft->to_count > MCPX_TO_MAX)
        return mx_fault_set(drafting->fault, "expected at most 256 addressees", "to", 0);
    for (size_t i = 0; i < draft->to_count; i++)
        if (!mcpx_participant_id_is_valid(draft->to[i]))
            return mx_fault_set(drafting->fault, "expected only ids of participants", "to", 0);
    /* an id is what a topic's name is: 1 to 256 bytes of UTF-8 without control characters */
    if (draft->correlation_id.text && !mcpx_topic_name_is_valid(draft->correlation_id))
        return mx_fault_set(drafting->fault, "expected the id of an envelope",
                            "correlation_id", 0);
    return MCPX_OK;
}

static enum mcpx_err read_payload(struct drafting *drafting)
{
    struct mcpx_slice payload = drafting->draft->payload;
    enum mcpx_err err;

    if (!payload.text)
        return mx_fault_set(drafting->fault, "expected a JSON object", "payload", 0);
    err = mcpx_json_check(payload, MX_DEPTH_MAX, &drafting->payload, drafting->fault);
    if (err)
        return MCPX_EINVALID;
    if (mcpx_json_type(drafting->payload) != MCPX_JSON_OBJECT)
        return mx_fault_set(drafting->fault, "expected a JSON object", "payload", 0);
    return MCPX_OK;
}

/* ---- composing ---- */

static void write_envelope(const struct drafting *drafting, const char *id,
                           struct mcpx_text *out)
{
    const struct mcpx_draft *draft = drafting->draft;

    mx_format(out, "{\"protocol\":%q,\"id\":%q", MCPX_PROTOCOL, id);
    if (draft->to_count > 0)
        mx_json_add_strings(out, "to", draft->to, draft->to_count);
    mcpx_json_add_member(out, "kind", drafting->kind.text);
    mx_json_add_optional(out, "correlation_id", draft->correlation_id);
    mx_json_add_time(out, "expires", draft->expires_ms);
    mx_format(out, ",\"payload\":%s}", drafting->payload);
}

static enum mcpx_err compose(const struct drafting *drafting, struct mx_own *own)
{
    mx_scoped_text text = {0};

    write_envelope(drafting, own->uuid, &text);
    if (!text.failed)
        own->text = mx_block_new(mcpx_text_view(&text));
    return own->text ? MCPX_OK : MCPX_ENOMEM;
}

static enum mcpx_err note_asked(const struct drafting *drafting, struct mx_own *own)
{
    struct mx_asked asked = {
        .id = own->id,
        .method = drafting->rpc.method,
        .context = drafting->rpc.context,
        .rpc_id = drafting->rpc.id,
        .to = drafting->draft->to,
        .to_count = drafting->draft->to_count,
    };

    own->proposal = is_type(drafting, "mcp/proposal");
    if (own->proposal)
        asked.params = drafting->rpc.params;
    own->asked = mx_asked_copy(&asked, sizeof asked);
    return own->asked ? MCPX_OK : MCPX_ENOMEM;
}

static bool has_no_echo(const struct mcpx_session *session, const struct mcpx_draft *draft)
{
    return session->config.directed && draft->to_count > 0 &&
           !mx_id_is_among(mcpx_session_id(session), draft->to, draft->to_count);
}

static int64_t deadline_of(const struct mcpx_session *session, const struct mx_own *own,
                           const struct mcpx_draft *draft, struct mcpx_now now)
{
    int64_t timeout = own->proposal ? session->config.proposal_ms : session->config.request_ms;

    if (draft->timeout_ms > 0)
        timeout = draft->timeout_ms;
    if (draft->timeout_ms < 0 || timeout > INT64_MAX - now.mono_ms)
        return INT64_MAX;
    return now.mono_ms + timeout;
}

/* Makes the complete envelope. It is not in the outbox yet. */
static enum mcpx_err make_own(struct mcpx_session *session, const struct drafting *drafting,
                              struct mx_own **out)
{
    struct mx_own *own = calloc(1, sizeof *own);
    size_t used = session->outbox.bytes + (drafting->waits ? session->pending.open_bytes : 0);
    unsigned char random[16];
    enum mcpx_err err;

    if (!own)
        return MCPX_ENOMEM;
    own->refs = 1;
    session->config.fill(session->config.context, random, sizeof random);
    mx_uuid_format(random, own->uuid);
    own->id = (struct mcpx_slice){own->uuid, MX_UUID_LEN};
    own->tag = drafting->draft->tag;
    own->is_answer = is_type(drafting, "mcp/response");
    own->has_no_echo = has_no_echo(session, drafting->draft);
    err = compose(drafting, own);
    if (!err && drafting->waits)
        err = note_asked(drafting, own);
    if (!err && session->message_max && own->text->len > session->message_max)
        err = MCPX_ETOOBIG;
    if (!err && used > 0 && own->text->len + used > session->config.unsent_bytes)
        err = MCPX_ELIMIT;
    if (err)
        mx_own_unref(own);
    else
        *out = own;
    return err;
}

static enum mcpx_err check_right(const struct mcpx_session *session,
                                 const struct drafting *drafting, struct mcpx_now now)
{
    struct mcpx_question question = {
        .kind = &drafting->kind,
        .to = drafting->draft->to,
        .to_count = drafting->draft->to_count,
        .wall_ms = now.wall_ms,
    };

    if (!mcpx_session_may(session, &question))
        return MCPX_ECAPABILITY;
    if (drafting->waits && session->pending.awaited >= session->config.pending_max)
        return MCPX_ELIMIT;
    return MCPX_OK;
}

static enum mcpx_err send_draft(struct mcpx_session *session, struct drafting *drafting,
                                struct mcpx_now now, struct mcpx_slice *id)
{
    const struct mcpx_draft *draft = drafting->draft;
    struct mx_own *own = NULL;
    enum mcpx_err err = check_kind(drafting);

    if (!err)
        err = check_head(drafting);
    if (!err)
        err = check_right(session, drafting, now);
    if (!err && (!mx_pending_reserve(&session->pending) || !mx_session_reserve(session, 2)))
        err = MCPX_ENOMEM;
    if (!err)
        err = make_own(session, drafting, &own);
    if (err)
        return err;
    session->mono_ms = now.mono_ms;
    own->deadline = deadline_of(session, own, draft, now);
    mx_pending_add(&session->pending, own);
    mx_outbox_add(&session->outbox, own);
    mx_absent_need(session, draft->to, draft->to_count);
    if (id)
        *id = own->id;
    mx_own_unref(own);
    return MCPX_OK;
}

enum mcpx_err mcpx_session_send(struct mcpx_session *session, const struct mcpx_draft *draft,
                                struct mcpx_now now, struct mcpx_slice *id,
                                struct mcpx_fault *fault)
{
    struct drafting drafting = {.draft = draft, .fault = fault};
    enum mcpx_err err;

    if (session->connection == MX_ENDED)
        return MCPX_ECLOSED;
    err = read_payload(&drafting);
    return err ? err : send_draft(session, &drafting, now, id);
}

/* ---- answers ---- */

static enum mcpx_err read_answer(const struct mx_asked *asked, struct drafting *drafting)
{
    struct mcpx_fault *fault = drafting->fault;
    struct mcpx_rpc *rpc = &drafting->rpc;
    enum mcpx_err err = read_payload(drafting);

    if (!err)
        err = mcpx_rpc_read(drafting->payload, rpc, fault);
    if (err)
        return err;
    if (rpc->form != MCPX_RPC_RESULT && rpc->form != MCPX_RPC_ERROR)
        return mx_fault_set(fault, "expected a JSON-RPC result or error", "payload", 0);
    if (rpc->id.text && mcpx_json_same(rpc->id, asked->rpc_id))
        return MCPX_OK;
    return mx_fault_set(fault, "expected the JSON-RPC id of the request", "id", 0);
}

/* "mcp/response:" and the operation: at most one byte longer than the kind it answers. */
static void write_response_kind(const struct mx_asked *asked, char out[MCPX_KIND_MAX + 32])
{
    struct mcpx_slice operation = asked->operation;

    if (operation.len + sizeof "mcp/response:" > MCPX_KIND_MAX)
        operation.len = asked->method.len; /* the context does not fit; METHOD comes first */
    (void)snprintf(out, MCPX_KIND_MAX + 32, "mcp/response:%.*s", (int)operation.len,
                   operation.text);
}

enum mcpx_err mcpx_session_respond(struct mcpx_session *session, struct mcpx_slice request,
                                   struct mcpx_slice payload, struct mcpx_now now,
                                   struct mcpx_fault *fault)
{
    const struct mx_asked *asked = mx_inbound_find(&session->requests, request);
    char kind[MCPX_KIND_MAX + 32];
    struct mcpx_slice to[2];
    struct mcpx_draft draft = {.type = kind, .to = to, .to_count = 1, .payload = payload};
    struct drafting drafting = {.draft = &draft, .fault = fault};
    enum mcpx_err err;

    if (session->connection == MX_ENDED)
        return MCPX_ECLOSED;
    if (!asked)
        return MCPX_ENOTFOUND;
    err = read_answer(asked, &drafting);
    if (err)
        return err;
    write_response_kind(asked, kind);
    to[0] = asked->from;
    to[1] = asked->proposer;
    if (asked->proposer.text && !mcpx_slice_equal(asked->proposer, asked->from))
        draft.to_count = 2;
    draft.correlation_id = asked->id;
    err = send_draft(session, &drafting, now, NULL);
    if (!err)
        mx_inbound_remove(&session->requests, asked->id);
    return err;
}

bool mcpx_session_drop(struct mcpx_session *session, struct mcpx_slice request)
{
    return mx_inbound_remove(&session->requests, request);
}

bool mcpx_session_forget(struct mcpx_session *session, struct mcpx_slice id)
{
    struct mx_own *own = mx_pending_awaited(&session->pending, id);

    if (!own)
        return false;
    if (own->kept)
        mx_outbox_remove(&session->outbox, own); /* it had arrived before: not again */
    mx_pending_settle(&session->pending, own);
    mx_pending_release(&session->pending, own);
    return true;
}
