/*
 * action.h - what a core wants done: it decides, somebody else acts. Actions are pulled in their
 * order, each is done at once, and what came of it goes back in.
 */
#ifndef MCPX_BRIDGE_ACTION_H
#define MCPX_BRIDGE_ACTION_H

#include <mcpx/session.h>

/**
 * Members of struct bridge_action that are filled stand in brackets. "Can fail": the error that
 * came of it is handled. The import alone has KILL, START and STOP.
 *
 *   WRITE     one line, without newline, for the child or the client [server, text]. To a child
 *             it can fail
 *   KILL      the child hangs, or cannot be used; as mcpx_child_kill [server]
 *   START     one more process is wanted, for the participant `about` of the topic alone [server,
 *             topic, about]. Can fail; who waits for it is told. For a pool that isolates; a
 *             number comes again only after STOPPED or FAILED
 *   STOP      it is not wanted any more; as mcpx_child_stop [server]
 *   RESPOND   as mcpx_client_respond [topic, about, text]. Can fail
 *   DROP      as mcpx_session_drop [topic, about]. Without memory for it the request stays with the
 *             session, which has room for so many (session.h)
 *   SEND      as mcpx_client_send [topic, draft]. Can fail; gives the envelope's id
 *   FORGET    as mcpx_session_forget [topic, about]. Without memory for it the session goes on to
 *             wait, and has room for so many (pending_max in session.h)
 *   LOG       a sentence for people, without newline; it may hold what others sent [text]
 */
enum bridge_action_type {
    BRIDGE_WRITE,
    BRIDGE_KILL,
    BRIDGE_START,
    BRIDGE_STOP,
    BRIDGE_RESPOND,
    BRIDGE_DROP,
    BRIDGE_SEND,
    BRIDGE_FORGET,
    BRIDGE_LOG
};

/**
 * server   number of the server, from 0, that it is about or comes from
 * topic    number of the topic, from 0
 * about    id of an envelope: of the request, or of our own; START: id of the participant
 * text     the line, payload or sentence
 */
struct bridge_action {
    enum bridge_action_type type;
    size_t server;
    size_t topic;
    struct mcpx_slice about;
    struct mcpx_slice text;
    struct mcpx_draft draft;
};

/** What came of it. `id`: of the envelope that was sent; absent for every other action. */
struct bridge_outcome {
    enum mcpx_err err;
    struct mcpx_slice id;
};

#endif
