/* output.h - the actions of a core that are not done yet. */
#ifndef MCPX_BRIDGE_OUTPUT_H
#define MCPX_BRIDGE_OUTPUT_H

#include <mcpx/session.h>
#include <mcpx/text.h>

/*
 * A core only decides; its driver acts. The driver takes the actions in order, does each at once,
 * and returns its outcome to the core.
 */

/**
 * Brackets name the filled members of struct bridge_action. "Can fail": the core handles the error.
 * Only the import uses KILL, START and STOP.
 *
 *   WRITE     one line, without newline, for the child or the client [server, text]. To a child
 *             it can fail
 *   KILL      the child hangs, or cannot be used; as mcpx_child_kill [server]
 *   START     start one more process, for the participant `about` of the topic alone [server,
 *             topic, about]. Can fail; waiting requesters get an error. Only with isolate_max; a
 *             number is reused only after STOPPED or FAILED
 *   STOP      stop the process; as mcpx_child_stop [server]
 *   RESPOND   as mcpx_client_respond [topic, about, text]. Can fail
 *   DROP      as mcpx_session_drop [topic, about]
 *   SEND      as mcpx_client_send [topic, draft]. Can fail; gives the envelope's id
 *   FORGET    as mcpx_session_forget [topic, about]
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

struct bridge_action {
    enum bridge_action_type type;
    size_t server; /* number of the server, from 0, that it is about or comes from */
    size_t topic;  /* number of the topic, from 0 */
    /* Id of an envelope: of the request, or of our own; START: id of the participant. */
    struct mcpx_slice about;
    struct mcpx_slice text; /* the line, payload or sentence */
    struct mcpx_draft draft;
};

/** The result of an action. `id`: of the sent envelope; absent for every other action. */
struct bridge_outcome {
    enum mcpx_err err;
    struct mcpx_slice id;
};

/** An action, and the facts its core needs to handle the outcome. */
struct bridge_row {
    struct bridge_row *next;
    struct bridge_action action;
    int64_t call;                  /* WRITE: the request in it; 0 = none */
    struct mcpx_slice who, method; /* RESPOND: the requester and its method */
    struct mcpx_text taken;        /* a text of the action that is the row's own; private */
    bool is_substitute; /* RESPOND: it stands for an answer that could not be sent */
    bool is_notice;     /* SEND: a notification of the server */
    bool is_change;     /* SEND: a notification that a list or a resource changed */
    bool is_given_up;   /* the queue was full: the message is not sent */
};

/** The list. Zero-initialised is empty. */
struct bridge_output {
    struct bridge_row *first, *last;
};

/** Frees all rows. */
void bridge_output_fini(struct bridge_output *output);

/** Adds a copy of a row with everything that it points to. Lends it until it is taken out. */
struct bridge_row *bridge_output_add(struct bridge_output *output,
                                     const struct bridge_row *row);

/** The same with `text`, which is taken: as the payload of a SEND, else as the action's text. */
void bridge_output_put(struct bridge_output *output, struct bridge_row row,
                       struct mcpx_text text);

/** Adds a row that was taken out of another list. */
void bridge_output_append(struct bridge_output *output, struct bridge_row *row);

/** Takes out the first row, for bridge_row_free. There is one. */
struct bridge_row *bridge_output_take(struct bridge_output *output);

/** Frees a row that was taken out. */
void bridge_row_free(struct bridge_row *row);

#endif
