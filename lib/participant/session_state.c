/*
 * session_state.c - what every part of a session needs of it.
 * Includes session_state.h only.
 */
#include "lib/participant/session_state.h"

void mx_id_set(struct mx_id *id, struct mcpx_slice text)
{
    memmove(id->text, text.text, text.len);
    id->len = text.len;
}

void mx_session_fill(const struct mcpx_session *session, void *bytes, size_t len)
{
    session->config.fill(session->config.context, bytes, len);
}

/*
 * What is under way may end at any time, twice over: it arrives, and it is answered or expires. And
 * the connection may end. Room for that is made beforehand.
 */
bool mx_session_reserve(struct mcpx_session *session, size_t more)
{
    return mx_events_reserve(&session->events, more + 2 * session->pending.ids.count + 1);
}

enum mcpx_err mx_session_parse(struct mcpx_session *session, struct mcpx_slice text,
                               struct mcpx_fault *fault)
{
    enum mcpx_err err;

    if (session->parsed && session->parsed == text.text)
        return MCPX_OK;
    session->parsed = NULL;
    session->rpc_parsed = NULL;
    err = mcpx_envelope_parse(text, MX_DEPTH_MAX, &session->envelope, fault);
    if (!err)
        session->parsed = text.text;
    return err;
}

/* Another text may come to lie at the same address. */
void mx_session_drop_text(struct mcpx_session *session, struct mx_block *block)
{
    uintptr_t parsed = (uintptr_t)session->parsed;

    if (block && block->refs == 1 && parsed >= (uintptr_t)block->text &&
        parsed <= (uintptr_t)block->text + block->len)
        session->parsed = session->rpc_parsed = NULL;
    mx_block_unref(block);
}
