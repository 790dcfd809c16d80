/*
 * expose.h - a topic as one MCP server: lines of a client and events of a session go in, lines
 * and drafts come out. No I/O and no clock: whoever owns the pipe and the socket calls.
 * Includes session.h only.
 */
#ifndef MCPX_BRIDGE_EXPOSE_H
#define MCPX_BRIDGE_EXPOSE_H

#include <mcpx/session.h>

struct expose;

/**
 * Settings; texts are copied.
 *
 * topic         for people
 * nonce         begins our progress tokens: another bridge in the topic should not have it
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
    bool plain;
    const char *const *only;
    size_t only_count;
    int64_t request_ms;
    int64_t proposal_ms;
    int64_t beat_ms;
};

/**
 * What the server is connected to. `may`, `could`, `roster`, `forget`, `drop`, `send` and `respond` are the
 * session's functions of those names, borrowed texts and all; `send` and `respond` may be called
 * from within expose_event.
 *
 * line     one message for the client, without newline; borrowed
 * note     one sentence for the log, without newline; borrowed; may hold what others sent
 * roster   the id of the other participant at `index`; false when there is none
 * behind   the client has not read what it was told for so long that only answers are kept for it
 * message_max   limits.message_bytes of the router; 0 = none known
 */
struct expose_port {
    void *user;
    void (*line)(void *user, struct mcpx_slice line);
    void (*note)(void *user, struct mcpx_slice sentence);
    enum mcpx_err (*send)(void *user, const struct mcpx_draft *draft, struct mcpx_slice *id,
                          struct mcpx_fault *fault);
    enum mcpx_err (*respond)(void *user, struct mcpx_slice request, struct mcpx_slice payload);
    void (*forget)(void *user, struct mcpx_slice envelope);
    bool (*may)(void *user, const struct mcpx_question *question);
    bool (*could)(void *user, struct mcpx_slice participant, const struct mcpx_kind *kind);
    bool (*roster)(void *user, size_t index, struct mcpx_slice *id);
    void (*drop)(void *user, struct mcpx_slice request);
    bool (*behind)(void *user);
    size_t (*message_max)(void *user);
};

/** Makes a server. `port` is copied. Returns MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err expose_new(const struct expose_config *config, const struct expose_port *port,
                         struct expose **out);

/** Frees it. NULL is allowed. */
void expose_free(struct expose *x);

/** One line of the client; borrowed. */
void expose_line(struct expose *x, struct mcpx_slice line, struct mcpx_now now);

/**
 * A line was too long; `beginning` are its first bytes. It is refused, with its id when that stands among
 * them.
 */
void expose_overlong(struct expose *x, struct mcpx_slice beginning);

/** One event of the session; borrowed. */
void expose_event(struct expose *x, const struct mcpx_event *event, struct mcpx_now now);

/** Lets deadlines pass. */
void expose_tick(struct expose *x, struct mcpx_now now);

/** mono_ms at which expose_tick has something to do; INT64_MAX when nothing waits. */
int64_t expose_deadline(const struct expose *x);

/**
 * Answers everything that waits with an error and this sentence: the topic will not come back.
 */
void expose_abandon(struct expose *x, struct mcpx_slice sentence);

/** The client is gone: takes back what it waits for, so that nobody works or decides for nobody. */
void expose_leave(struct expose *x, struct mcpx_now now);

/** True when the client waits for nothing that a machine answers. */
bool expose_is_idle(const struct expose *x);

/** Calls of the client under way. */
size_t expose_call_count(const struct expose *x);

#endif
