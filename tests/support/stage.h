/*
 * stage.h - one session on a stage: the test is its router, its application and its clock.
 *
 *     stage_begins();
 *     stage_sends("q", "mcp/request", "server", "{'jsonrpc':'2.0','id':1,'method':'ping'}");
 *     stage_hears("{'id':'r','from':'server','kind':'mcp/response:ping',"
 *                        "'correlation_id':'@q','payload':{'jsonrpc':'2.0','id':1,'result':{}}}");
 *     stage_expect("response r from server; own q\n");
 *
 * In every text ' stands for " and @NAME for the id of the envelope sent under that name. How
 * events read is told by stage.c, one line per event.
 */
#ifndef TESTS_STAGE_H
#define TESTS_STAGE_H

#include <mcpx/session.h>
#include <mcpx/text.h>

/** Most names that one stage knows. */
enum { STAGE_NAMES_MAX = 64 };

/**
 * The stage.
 *
 * names, ids   what was sent under a name; the name is the envelope's tag
 */
struct stage {
    struct mcpx_session *session;
    struct mcpx_now now;
    uint64_t random;
    const char *names[STAGE_NAMES_MAX];
    char ids[STAGE_NAMES_MAX][64];
    size_t count;
};

/** The one of this process. */
extern struct stage stage;

/** The settings a stage uses unless told otherwise: all defaults, observing. */
struct mcpx_session_config stage_config(void);

/** Sets the stage, or sets it anew; the session is not connected. `config` NULL = stage_config. */
void stage_set(const struct mcpx_session_config *config);

/** Checks that nothing untold is left, and clears the stage: a suite's `fini`. */
void stage_clear(void);

/** Sets the stage and joins: a suite's `init`; the macro with some other settings. */
void stage_begins(void);
void stage_begins_with(const struct mcpx_session_config *config);
#define STAGE_BEGINS(...)                                                                     \
    stage_begins_with(                                                                        \
        &(struct mcpx_session_config){.observe = true, .fill = stage_fill, __VA_ARGS__})

/** The chance of a stage: what `fill` is. */
void stage_fill(void *context, void *bytes, size_t len);

/** A welcome of "me" with the grant `*`, and with "server" and "bob" present. */
#define STAGE_WELCOME                                                                         \
    "{'id':'w','from':'system:gateway','to':['me'],'kind':'system/welcome','payload':{"       \
    "'you':{'id':'me','capabilities':['*']},'participants':["                                 \
    "{'id':'bob','capabilities':['chat']},{'id':'server','capabilities':['mcp/"               \
    "response:*']}],"                                                                         \
    "'topic':{'name':'t','head':null,'epoch':'E1','serial':0},"                               \
    "'resumed':false,'history':{'count':0},"                                                  \
    "'limits':{'message_bytes':100000,'messages_per_minute':null}}}"

/** A welcome of "me" to a topic with nobody else: resumed; anew, with so much history. */
#define STAGE_RESUMED                                                                         \
    "{'id':'w','from':'system:gateway','to':['me'],'kind':'system/welcome','payload':{"       \
    "'you':{'id':'me','capabilities':['*']},'participants':[],"                               \
    "'topic':{'name':'t','head':'z','epoch':'E1','serial':3},"                                \
    "'resumed':true,'history':{'count':0}}}"
#define STAGE_ANEW(count)                                                                     \
    "{'id':'w','from':'system:gateway','to':['me'],'kind':'system/welcome','payload':{"       \
    "'you':{'id':'me','capabilities':['*']},'participants':[],"                               \
    "'topic':{'name':'t','head':'z','epoch':'E2','serial':9},"                                \
    "'resumed':false,'history':{'count':" count "}}}"

/** Our own presence, which ends what was missed; that of somebody else. */
#define STAGE_CAUGHT_UP                                                                       \
    "{'id':'c','from':'system:gateway','kind':'system/presence','payload':{"                  \
    "'event':'join','participant':{'id':'me','capabilities':[]}}}"
#define STAGE_JOINS(id)                                                                       \
    "{'id':'c','from':'system:gateway','kind':'system/presence','payload':{"                  \
    "'event':'join','participant':{'id':'" id "','capabilities':[]}}}"

/** The router's answer to an envelope of ours. */
#define STAGE_ERROR(name, about)                                                              \
    "{'id':'e','from':'system:gateway','to':['me'],'kind':'system/"                           \
    "error','correlation_id':'" about "','payload':{'error':'" name                           \
    "','message':'m','retry_after_ms':600}}"

/** Connects, welcomes, and skips the event. */
void stage_joins(void);

/** Connects and hears a welcome. */
void stage_comes(const char *welcome);

/** Writes out what stage_hears would hear. */
void stage_compose(const char *text, struct mcpx_text *out);

/** A message comes; `protocol` and an empty payload are added when missing. */
enum mcpx_err stage_hears(const char *text);

/**
 * Sends under a name, which must stay where it is.
 *
 * to   an addressee, several with commas between them; NULL = everyone
 */
enum mcpx_err stage_sends(const char *name, const char *type, const char *to,
                          const char *payload);

/** The same with a correlation id, @NAME included. */
enum mcpx_err stage_replies(const char *name, const char *type, const char *about,
                            const char *payload);

/** Answers a request. */
enum mcpx_err stage_responds(const char *request, const char *payload);

/** Gives a name to an id that was sent otherwise. */
void stage_names(const char *name, const char *id);

/** Writes the next text; returns whether there was one, with its id replaced by @NAME in `text`. */
bool stage_writes(struct mcpx_text *text);

/** Writes the next text, and compares: it holds `part`; NULL = there is none. */
void stage_expect_output(const char *part);

/** Writes everything and shows the echo of it to the session, without skipping DELIVERED. */
void stage_echoes(void);

/** Writes everything; nothing comes back. */
void stage_flushes(void);

/** Lets time pass and ticks. */
void stage_waits(int64_t ms);

/** The connection ends with a code. */
void stage_breaks(int code);

/** Compares the events since the last call with a transcript. */
void stage_expect(const char *transcript);

/** Throws the events away. */
void stage_skip(void);

#endif
