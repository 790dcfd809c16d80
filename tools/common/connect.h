/*
 * connect.h - the options every program on a topic shares, and what they mean.
 */
#ifndef TOOLS_CONNECT_H
#define TOOLS_CONNECT_H

#include "tools/common/command.h"

#include <mcpx/client.h>

/** --url, --topic, --token-file, --as, --ca-file, --context: `shared` of a verb's row. */
extern const struct option_row connect_options[];

/**
 * The same without --context. What runs as a service is told everything where it is started: the
 * context that its user chose last at a terminal is no concern of it.
 */
extern const struct option_row connect_service_options[];

/** These for a verb that takes several topics. */
extern const struct option_row connect_topics_options[];

/**
 * Where a program connects to and as whom.
 *
 * client    url, topic, token, ca_file filled, history -1; the rest is for the verb to fill. Its
 *           strings are lent by the command line, the environment and this struct
 * api       address of the HTTP API, for struct http_call
 * as        the participant that --as or the context named; NULL when the token decides
 * context   name of the context that counts; NULL when none does
 * timeout_ms   for a token, and for fetch.h's calls, which then are made without a word; 0 = as
 *              http_do waits
 * is_patient, contexts   private
 */
struct connection {
    struct mcpx_client_config client;
    const char *as;
    char *api;
    char *token;
    const char *context;
    int64_t timeout_ms;
    bool is_patient;
    struct json_t *contexts;
};

/**
 * Reads the shared options, the environment (MCPX_URL, MCPX_TOPIC, MCPX_TOKEN) and the context
 * (context.h). A token comes from --as (a router in development mode is asked for one), or
 * --token-file, or MCPX_TOKEN, or what the context has of the first two, in this order. A token file that others may read is warned about. No token is ever printed.
 * Afterwards MCPX_TOKEN is no longer in the environment, and this process shows its memory to no
 * other of the same user (secret.h).
 *
 * out   filled on STATUS_OK; connection_fini in every case
 *
 * Returns STATUS_OK, or an exit code, having complained.
 */
int connection_read(const struct arguments *arguments, struct connection *out);

/** The longest bearer token, in bytes. */
enum { CONNECTION_TOKEN_MAX = 8192 };

/** True for what a header can carry as a token: printable ASCII without spaces. */
bool connection_token_is_valid(const char *text, size_t len);

/**
 * Each checks the value of an option, --topic and --as. Returns STATUS_OK, or STATUS_USAGE, having
 * complained.
 */
int connection_check_topic(const char *verb, const char *topic);
int connection_check_as(const char *verb, const char *as);

/** --as and --token-file together. Returns STATUS_USAGE, having complained. */
int connection_complain_of_both(const char *verb);

/**
 * Its two halves. The first one fills url, ca_file, api, context and topic, which may stay NULL, and
 * asks nobody; between them the caller may set timeout_ms. The second one wants a topic and finds the token. Both return as connection_read
 * does; connection_fini in every case.
 */
int connection_read_router(const struct arguments *arguments, struct connection *out);
int connection_authenticate(const struct arguments *arguments, struct connection *out);

/**
 * As `first`, in another topic: with the same token, or another one of the router in development
 * mode. After connection_read; `topic` is kept.
 */
int connection_read_other(const struct arguments *arguments, const struct connection *first,
                          const char *topic, struct connection *out);

/**
 * The same for a program that stays: with --as, a router that is not there yet is waited for. Says so, and
 * leaves a token that no router takes; `client.session.renews_token` is set with --as, so that
 * the LEFT which follows, and any later one about the token, is the time for connection_ask.
 */
int connection_read_patiently(const struct arguments *arguments, struct connection *out);

/**
 * Asks the router for another token for `as`. Says nothing; may be called from another thread.
 *
 * timeout_ms   for all of it
 * token        filled on STATUS_OK; for connection_wipe
 *
 * Returns STATUS_OK; STATUS_ABSENT when the router gives no tokens: then there is no use in asking
 * again; another exit code.
 */
int connection_ask(const struct connection *connection, int64_t timeout_ms, char **token);

/** Wipes a token and frees it. NULL is allowed. */
void connection_wipe(char *token);

/** Frees and wipes what the connection holds. */
void connection_fini(struct connection *connection);

#endif
