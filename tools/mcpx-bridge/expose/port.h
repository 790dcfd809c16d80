/*
 * port.h - what a server is told when it is made, and what it can do: its settings, and the port
 * through which it speaks to the topic.
 */
#ifndef MCPX_BRIDGE_EXPOSE_PORT_H
#define MCPX_BRIDGE_EXPOSE_PORT_H

#include "lib/core/map.h"

#include <mcpx/session.h>

/**
 * Settings; texts are copied.
 *
 * topic         for people
 * nonce         begins our progress tokens, so that they differ from those of other bridges in
 *               the topic
 * key           of hash tables: random, and told to nobody
 * plain         tools and prompts keep their names where these are unique
 * only          patterns of what is shown: a participant with all it has, or single tools, prompts and
 *               resources under the names the client sees; * stands for any bytes. None = all
 * request_ms    how long a call may take without a sign of life; 0 = for ever
 * proposal_ms   how long a proposal waits for somebody to decide; 0 = for ever
 * beat_ms       pause between signs of life while a proposal waits; > 0
 */
struct expose_config {
    const char *topic;
    const char *nonce;
    struct mx_map_key key;
    bool plain;
    const char *const *only;
    size_t only_count;
    int64_t request_ms;
    int64_t proposal_ms;
    int64_t beat_ms;
};

/**
 * What the server wants of its session: the functions of those names, with what they lend. They are
 * called, and not fetched like what client and log are told, because they answer at once: what becomes
 * of a call depends on whether we may send it and whether it could be sent. Nothing may come in from
 * within them.
 *
 * roster   the id of the other participant at `index`; false when there is none
 * message_max   limits.message_bytes of the router; 0 = none known
 */
struct expose_port {
    void *user;
    enum mcpx_err (*send)(void *user, const struct mcpx_draft *draft, struct mcpx_slice *id,
                          struct mcpx_fault *fault);
    enum mcpx_err (*respond)(void *user, struct mcpx_slice request, struct mcpx_slice payload);
    void (*forget)(void *user, struct mcpx_slice envelope);
    bool (*may)(void *user, const struct mcpx_question *question);
    bool (*could)(void *user, struct mcpx_slice participant, const struct mcpx_kind *kind);
    bool (*roster)(void *user, size_t index, struct mcpx_slice *id);
    void (*drop)(void *user, struct mcpx_slice request);
    size_t (*message_max)(void *user);
};

#endif
