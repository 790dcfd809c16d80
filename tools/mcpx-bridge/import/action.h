/*
 * action.h - what an import wants done: it decides, somebody else acts. Actions are pulled in their
 * order, each is done at once, and what came of it goes back in (pool.h).
 */
#ifndef MCPX_BRIDGE_IMPORT_ACTION_H
#define MCPX_BRIDGE_IMPORT_ACTION_H

#include "tools/mcpx-bridge/import/who.h"

#include <mcpx/session.h>

/**
 * Members of struct import_action that are filled stand in brackets. "Can fail": the error that
 * came of it is handled.
 *
 *   WRITE     one line for the child; as mcpx_child_write [server, text]. Can fail
 *   KILL      the child hangs, or cannot be used; as mcpx_child_kill [server]
 *   START     one more process is wanted, for `owner` alone [server, owner]. Can fail; who waits for
 *             it is told. For a pool that isolates; a number comes again only after STOPPED or
 *             FAILED
 *   STOP      it is not wanted any more; as mcpx_child_stop [server]
 *   RESPOND   as mcpx_client_respond [topic, about, text]. Can fail
 *   DROP      as mcpx_session_drop [topic, about]. Without memory for it the request stays with the
 *             session, which has room for so many (session.h)
 *   SEND      as mcpx_client_send [topic, draft]. Can fail; gives the envelope's id
 *   FORGET    as mcpx_session_forget [topic, about]
 *   LOG       a sentence for people, without newline and control characters [text]
 */
enum import_action_type {
    IMPORT_WRITE,
    IMPORT_KILL,
    IMPORT_START,
    IMPORT_STOP,
    IMPORT_RESPOND,
    IMPORT_DROP,
    IMPORT_SEND,
    IMPORT_FORGET,
    IMPORT_LOG
};

/**
 * server   number of the server, from 0, that it is about or comes from
 * topic    number of the topic, from 0
 * about    id of an envelope: of the request, or of our question
 * text     the line, payload or sentence
 */
struct import_action {
    enum import_action_type type;
    size_t server;
    struct import_who owner;
    size_t topic;
    struct mcpx_slice about;
    struct mcpx_slice text;
    struct mcpx_draft draft;
};

/** What came of it. `id`: of the envelope that was sent; absent for every other action. */
struct import_outcome {
    enum mcpx_err err;
    struct mcpx_slice id;
};

#endif
