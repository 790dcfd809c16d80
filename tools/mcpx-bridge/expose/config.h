/*
 * config.h - what a server is given when it is made: its settings, and a view of its session.
 */
#ifndef MCPX_BRIDGE_EXPOSE_CONFIG_H
#define MCPX_BRIDGE_EXPOSE_CONFIG_H

#include "lib/core/map.h"
#include "tools/mcpx-bridge/terms.h"

#include <mcpx/session.h>

/**
 * Settings; texts are copied.
 *
 * topic         for people
 * nonce         begins our progress tokens, so that they differ from those of other bridges in
 *               the topic
 * key           of hash tables: random, and told to nobody
 * plain         tools and prompts keep their names where these are unique
 * answers_only  there are several clients, which hear answers and nothing else: nothing is told
 *               that nobody asked for, and servers may ask none of them
 * terms         what calls of tools have to keep, kept as long as the server; NULL: nothing
 * only          patterns of what is shown: a participant with all it has, or single tools, prompts
 *               and resources under the names the client sees; * stands for any bytes. None = all
 * request_ms    how long a call may take without a sign of life; 0 = for ever
 * proposal_ms   how long a proposal waits for somebody to decide; 0 = for ever
 * heartbeat_ms  pause between signs of life while a proposal waits; > 0
 */
struct expose_config {
    const char *topic;
    const char *nonce;
    struct mx_map_key key;
    bool plain;
    bool answers_only;
    const struct bridge_terms *terms;
    const char *const *only;
    size_t only_count;
    int64_t request_ms;
    int64_t proposal_ms;
    int64_t heartbeat_ms;
};

/**
 * What the server asks of its session: the functions of those names. Questions only, answered from
 * what the session knows, which changes with events alone; so they are called, and nothing else is.
 * They are functions, not the session itself, so that tests can give any answers.
 *
 * roster   the id of the other participant at `index`; false when there is none
 * message_max   limits.message_bytes of the router; 0 = none known
 * now      the clocks at this moment; asked with terms alone, as is
 * chance   random bytes
 */
struct expose_view {
    const void *user;
    bool (*may)(const void *user, const struct mcpx_question *question);
    bool (*could)(const void *user, struct mcpx_slice participant,
                  const struct mcpx_kind *kind);
    bool (*roster)(const void *user, size_t index, struct mcpx_slice *id);
    size_t (*message_max)(const void *user);
    struct mcpx_instant (*now)(const void *user);
    void (*chance)(const void *user, void *bytes, size_t len);
};

#endif
