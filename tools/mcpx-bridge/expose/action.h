/*
 * action.h - what a server wants done: it decides, somebody else acts. Actions are fetched in their
 * order, each is done at once, and what came of it goes back in (expose.h).
 */
#ifndef MCPX_BRIDGE_EXPOSE_ACTION_H
#define MCPX_BRIDGE_EXPOSE_ACTION_H

#include <mcpx/session.h>

/**
 * Members of struct expose_action that are filled stand in brackets. "Can fail": the error that
 * came of it is handled.
 *
 *   LINE      a message for the client, without newline [text]
 *   NOTE      a sentence for the log, without newline; it may hold what others sent [text]
 *   SEND      as mcpx_client_send [draft]. Can fail; gives the envelope's id
 *   RESPOND   as mcpx_client_respond [about, text]. Can fail
 *   FORGET    as mcpx_session_forget [about]
 *   DROP      as mcpx_session_drop [about]
 */
enum expose_action_type {
    EXPOSE_LINE,
    EXPOSE_NOTE,
    EXPOSE_SEND,
    EXPOSE_RESPOND,
    EXPOSE_FORGET,
    EXPOSE_DROP
};

/**
 * about    id of an envelope: of the request, or of our own
 * text     the line, sentence or payload
 */
struct expose_action {
    enum expose_action_type type;
    struct mcpx_slice about;
    struct mcpx_slice text;
    struct mcpx_draft draft;
};

/** What came of it. `id`: of the envelope that was sent; absent for every other action. */
struct expose_outcome {
    enum mcpx_err err;
    struct mcpx_slice id;
};

#endif
