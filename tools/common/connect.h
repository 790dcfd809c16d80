/*
 * connect.h - the options that all programs on a topic share, and what they mean.
 */
#ifndef TOOLS_CONNECT_H
#define TOOLS_CONNECT_H

#include "tools/common/command.h"
#include "tools/common/http.h"

#include <mcpx/client.h>

/**
 * --url, --topic, --token-file, --as, --ca-file, --cert-file, --key-file, --context: `shared` of a
 * verb's row.
 */
extern const struct option_row connect_options[];

/**
 * The same without --context, for what runs as a service. A service gets all its settings where it
 * is started. The context that its user chose last at a terminal must not change what it does.
 */
extern const struct option_row connect_service_options[];

/** The same as connect_service_options, for a verb that takes several topics. */
extern const struct option_row connect_topics_options[];

/**
 * Where a program connects to and as whom.
 *
 * url_from  what gave the url, for complaints: "--url", "MCPX_URL", "the context NAME" or "the
 *              default"
 * may_be_nobody   connection_authenticate does not fail when there is neither token nor
 *              certificate; to be set before it
 */
struct connection {
    /* Url, topic, token and the three files are filled, history is -1; the verb fills the rest.
     * Without a token, a certificate says who we are. The strings are lent by the command line,
     * the environment and this struct. `session.renews_token` is set with --as, and with a
     * token file that can be read again. */
    struct mcpx_client_config client;
    /* The participant that --as or the context named; NULL when the token decides. */
    const char *as;
    /* Where the token stands, when it can be read there again; else NULL. */
    const char *token_file;
    char *api; /* address of the HTTP API, for struct http_call */
    char *token;
    char url_from[96];
    const char *context; /* name of the context that is used; NULL when there is none */
    /* How long to wait for a token, and for the calls of connection_call, which then print no
     * complaint; 0 = as http_do waits. */
    int64_t timeout_ms;
    bool may_be_nobody;
    /* `is_patient`, `contexts`: private. */
    bool is_patient;
    struct json_t *contexts;
};

/**
 * How to connect.
 *
 *   ANYWHERE   for calls that are about no topic: without one, `client.topic` is any word
 *   PATIENT    for a program that keeps running: with --as, it does not fail when the router is not
 *              there yet: it says that it waits, and fills in a token that no router accepts. So
 *              LEFT follows, then and whenever a token is refused later, and the program has to
 *              call connection_ask
 */
enum { CONNECTION_ANYWHERE = 1, CONNECTION_PATIENT = 2 };

/**
 * Reads the shared options, the environment (MCPX_URL, MCPX_TOPIC, MCPX_TOKEN) and the context
 * (context.h). A token comes from the first of these that is there: --as (a router in development
 * mode is asked for one), --token-file, MCPX_TOKEN, what the context has of the first two. None is
 * needed beside --cert-file. Warns when others may read the token file or the certificate's key.
 * Never prints a token. Afterwards MCPX_TOKEN is no longer in the environment, and no other process
 * of the same user can read the memory of this one (context.h).
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
 * Calls the router's HTTP API. What `call` says is its path, method, body and deadline, and whether
 * it is quiet; the rest is filled in. A path without "/" in front is below that of the topic.
 *
 * answer   as for http_do, which this returns as
 * value    the JSON in the answer, be it a problem document, lent by that; absent when it is none,
 *          which is a failure then. NULL = the answer is another text
 */
int connection_call(const struct connection *where, struct http_call call,
                    struct mcpx_text *answer, struct mcpx_slice *value);

/** The longest bearer token, in bytes. */
enum { CONNECTION_TOKEN_MAX = 8192 };

/** True for what a header can carry as a token: printable ASCII without spaces. */
bool connection_token_is_valid(const char *text, size_t len);

/**
 * Check the value of --url, whose API's address is appended, of --topic, or of --as. Return
 * STATUS_OK, or STATUS_USAGE, having complained.
 */
int connection_check_url(const char *url, struct mcpx_text *api);
int connection_check_topic(const char *topic);
int connection_check_as(const char *as);

/** Complains that --as and --token-file were given together. Returns STATUS_USAGE. */
int connection_complain_of_both(void);

/**
 * The two halves of connection_read. The first one fills url, the files, api, context and topic,
 * which may stay NULL; it makes no connection. The second one requires a topic and gets the token.
 * Both return as connection_read does; connection_fini in every case.
 */
int connection_read_router(const struct arguments *arguments, struct connection *out);
int connection_authenticate(const struct arguments *arguments, struct connection *out);

/**
 * Fills a connection like `first`, in another topic: with the same token or, with --as, another one
 * from the router. To be called after connection_read; `topic` is kept.
 */
int connection_read_other(const struct connection *first, const char *topic,
                          struct connection *out);

/**
 * True for the end of a connection that another token may make good, where one can be had: with
 * --as from the router, with a token file from there. The program then calls connection_ask.
 */
bool connection_may_ask(const struct connection *connection, const struct mcpx_event *event);

/**
 * Gets another token: reads the token file again, or asks the router for one for `as`. Prints
 * nothing. May be called from another thread, while connection_take is not.
 *
 * timeout_ms   for the whole call to a router
 * token        filled on STATUS_OK; for connection_take or connection_wipe
 *
 * Returns STATUS_OK; STATUS_ABSENT when there is no other token, so that asking again is useless:
 * the router gives none, or the file has none but the one we have; else another exit code.
 */
int connection_ask(const struct connection *connection, int64_t timeout_ms, char **token);

/** Takes a token of connection_ask in place of the one that is there, which is wiped. */
void connection_take(struct connection *connection, char *token);

/** Wipes a token and frees it. NULL is allowed. */
void connection_wipe(char *token);

/** Frees and wipes what the connection holds. */
void connection_fini(struct connection *connection);

#endif
