/* connect.h - the connection options of all programs on a topic, and their meaning. */
#ifndef TOOLS_CONNECT_H
#define TOOLS_CONNECT_H

#include "tools/common/command.h"
#include "tools/common/http.h"

#include <mcpx/client.h>

/**
 * `shared` of a verb's row. Those of services have no --context: what their user chose last at a
 * terminal must not change them. With the third, a verb takes several topics.
 */
extern const struct option_row connect_options[], connect_service_options[],
    connect_topics_options[];

/** Router, topic and identity of a program. */
struct connection {
    /* Url, topic, token and the three files are filled, history is -1; the verb fills the rest.
     * Without a token, the certificate identifies the client. The strings are lent by the command
     * line, the environment and this struct. `session.renews_token` is set with --as, and with a
     * token file that can be read again. */
    struct mcpx_client_config client;
    const char *as;         /* of --as or the context; NULL when the token decides */
    const char *token_file; /* NULL when it cannot be read again */
    char *api;              /* address of the HTTP API, for struct http_call */
    char *token;
    char url_from[96];   /* "--url", "MCPX_URL", "the context NAME" or "the default" */
    const char *context; /* name of the context that is used, or NULL */
    /* Time limit for a token, and for each connection_call; 0 = that of http_do. With a limit,
     * connection_call prints no complaints. */
    int64_t timeout_ms;
    bool may_be_nobody; /* for connection_authenticate: needs neither token nor certificate */
    /* Private. */
    bool is_patient;
    struct json_t *contexts;
};

/**
 * How to connect.
 *
 *   ANYWHERE   for calls without a topic: a missing `client.topic` becomes "any"
 *   PATIENT    for a program that keeps running. With --as, a router that is not there yet is not
 *              an error: it is complained of, and the token is invalid. LEFT follows, as for
 *              every refused token, and the program must call connection_ask
 */
enum { CONNECTION_ANYWHERE = 1, CONNECTION_PATIENT = 2 };

/**
 * Reads the shared options, the environment (MCPX_URL, MCPX_TOPIC, MCPX_TOKEN) and the context
 * (context.h). The first of these gives the token: --as (a router in development mode is asked for
 * one), --token-file, MCPX_TOKEN, "as" or "token_file" of the context. --cert-file needs no token.
 * Warns when others may read the token file or the certificate's key. Never prints a token.
 * Afterwards MCPX_TOKEN is no longer in the environment, and no other process of the same user can
 * read the memory of this one (context.h).
 *
 * how          see above; 0 = none of it
 * timeout_ms   as in struct connection
 * out          filled on STATUS_OK; connection_fini in every case
 *
 * Returns STATUS_OK, or an exit code, having complained.
 */
int connection_read(const struct arguments *arguments, unsigned how, int64_t timeout_ms,
                    struct connection *out);

/**
 * Calls the router's HTTP API. The caller fills path, method, body, deadline and `quiet` of `call`;
 * the rest is filled in. A path without "/" in front is relative to the topic's.
 *
 * answer   as for http_do; the exit codes are the same, too
 * value    the JSON in the answer, also of a problem document, lent by `answer`; absent, and the
 *          call fails, when it is not JSON. NULL = the answer may be any text
 */
int connection_call(const struct connection *where, struct http_call call,
                    struct mcpx_text *answer, struct mcpx_slice *value);

enum { CONNECTION_TOKEN_MAX = 8192 };

/** True for what a header can carry as a token: printable ASCII without spaces, not too long. */
bool connection_token_is_valid(const char *text, size_t len);

/**
 * Check the value of --url (appends the address of its API), of --topic, or of --as. Return
 * STATUS_OK, or STATUS_USAGE, having complained.
 */
int connection_check_url(const char *url, struct mcpx_text *api);
int connection_check_topic(const char *topic);
int connection_check_as(const char *as);

/** Complains of --as beside --token-file. Returns STATUS_USAGE. */
int connection_complain_of_both(void);

/**
 * The two halves of connection_read. The first one fills url, the files, api, context and topic
 * (may be NULL); it does not connect. The second one requires a topic and gets the token. Both
 * return as connection_read does; connection_fini in every case.
 */
int connection_read_router(const struct arguments *arguments, struct connection *out);
int connection_authenticate(const struct arguments *arguments, struct connection *out);

/**
 * Fills a connection like `first`, in another topic: with the same token or, with --as, another one
 * from the router. `first` comes from connection_read; the pointer `topic` is kept.
 */
int connection_read_other(const struct connection *first, const char *topic,
                          struct connection *out);

/** Makes the client, which begins to connect. Returns an exit code, having complained. */
int connection_start(const struct mcpx_client_config *config, struct mcpx_client **out);

/**
 * True for an ended connection that another token may restore, when there is a source of tokens:
 * the router (with --as) or the token file. The program then calls connection_ask.
 */
bool connection_may_ask(const struct connection *connection, const struct mcpx_event *event);

/**
 * Gets another token: reads the token file again, or asks the router for one for `as`. Prints
 * nothing. May run in another thread, but not during connection_take.
 *
 * timeout_ms   for the whole call to a router
 * token        filled on STATUS_OK; for connection_take or connection_wipe
 *
 * Returns STATUS_OK; STATUS_ABSENT when asking again is useless: the router gives no token, or the
 * file has no other valid one; else another exit code.
 */
int connection_ask(const struct connection *connection, int64_t timeout_ms, char **token);

/** Takes a token of connection_ask in place of the old one, which it wipes. */
void connection_take(struct connection *connection, char *token);

/** Wipes a token and frees it. NULL is allowed. */
void connection_wipe(char *token);

/** Frees and wipes what the connection holds. */
void connection_fini(struct connection *connection);

#endif
