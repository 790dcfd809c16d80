/*
 * stage.h - one session on a stage: the test is its router, its application and its clock.
 *
 *     stage_joins(stage);
 *     stage_sends(stage, "q", "mcp/request", "server", "{'jsonrpc':'2.0','id':1,'method':'ping'}");
 *     stage_hears(stage, "{'id':'r','from':'server','kind':'mcp/response:ping',"
 *                        "'correlation_id':'@q','payload':{'jsonrpc':'2.0','id':1,'result':{}}}");
 *     stage_expect(stage, "response r from server; own q\n");
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

/** The settings a stage uses unless told otherwise: all defaults, observing. */
struct mcpx_session_config stage_config(struct stage *stage);

/** Sets the stage; the session is not connected. `config` NULL = stage_config. */
void stage_set(struct stage *stage, const struct mcpx_session_config *config);

/** Checks that nothing untold is left, and clears the stage. */
void stage_clear(struct stage *stage);

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
void stage_joins(struct stage *stage);

/** Writes out what stage_hears would hear. */
void stage_compose(struct stage *stage, const char *text, struct mcpx_text *out);

/** A message comes; `protocol` and an empty payload are added when missing. */
enum mcpx_err stage_hears(struct stage *stage, const char *text);

/**
 * Sends under a name, which must stay where it is.
 *
 * to   an addressee, several with commas between them; NULL = everyone
 */
enum mcpx_err stage_sends(struct stage *stage, const char *name, const char *type,
                          const char *to, const char *payload);

/** The same with a correlation id, @NAME included. */
enum mcpx_err stage_replies(struct stage *stage, const char *name, const char *type,
                            const char *about, const char *payload);

/** Answers a request. */
enum mcpx_err stage_responds(struct stage *stage, const char *request, const char *payload);

/** Gives a name to an id that was sent otherwise. */
void stage_names(struct stage *stage, const char *name, const char *id);

/** Writes the next text; returns whether there was one, with its id replaced by @NAME in `text`. */
bool stage_writes(struct stage *stage, struct mcpx_text *text);

/** Writes the next text, and compares: it holds `part`; NULL = there is none. */
void stage_expect_output(struct stage *stage, const char *part);

/** Writes everything and shows the echo of it to the session, without skipping DELIVERED. */
void stage_echoes(struct stage *stage);

/** Writes everything; nothing comes back. */
void stage_flushes(struct stage *stage);

/** Lets time pass and ticks. */
void stage_waits(struct stage *stage, int64_t ms);

/** The connection ends with a code. */
void stage_breaks(struct stage *stage, int code);

/** Compares the events since the last call with a transcript. */
void stage_expect(struct stage *stage, const char *transcript);

/** Throws the events away. */
void stage_skip(struct stage *stage);

#endif
