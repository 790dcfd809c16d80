/*
 * error.h - the one table of errors. Logs, `system/error`, HTTP problems and close frames all
 * read these rows, so one cause has one name everywhere.
 */
#ifndef MCPX_ERROR_H
#define MCPX_ERROR_H

#include <mcpx/base.h>

MCPX_BEGIN_C

/*
 * X(constant, text for people, name on the wire, WebSocket close code, HTTP status, again)
 *
 * The close code is 0 where the error closes no connection. The HTTP status answers a connection
 * attempt or an API call; 0 where the error cannot arise there. `again` is MCPX_AGAIN_... without
 * that prefix: whether to connect again after this code or status. Rows with the same code or
 * status have the same `again`.
 * Protocol sections: 1 (envelope), 3 (capabilities), 5-7 (slow consumers, errors, connecting).
 */
#define MCPX_ERRORS(X)                                                                        \
    X(MCPX_ENOMEM, "out of memory", "out_of_memory", 1011, 503, YES)                          \
    X(MCPX_EINVALID, "not a valid envelope", "invalid_envelope", 0, 400, NO)                  \
    X(MCPX_EUTF8, "text is not UTF-8", "invalid_envelope", 1007, 400, NO)                     \
    X(MCPX_EBINARY, "binary messages are not accepted", "invalid_envelope", 1003, 400, NO)    \
    X(MCPX_ETOOBIG, "message exceeds the size limit", "invalid_envelope", 1009, 413, NO)      \
    X(MCPX_EAUTH, "'from' is another participant", "auth_violation", 0, 403, NO)              \
    X(MCPX_ECAPABILITY, "no grant covers this kind", "capability_violation", 0, 403, NO)      \
    X(MCPX_ERATE, "too many messages", "rate_limited", 0, 429, YES)                           \
    X(MCPX_ESPACE, "no room for another message", "no_room", 0, 503, YES)                     \
    X(MCPX_EUNAVAILABLE, "the message cannot be stored now", "unavailable", 0, 503, YES)      \
    X(MCPX_ENOTNOW, "the topic cannot be entered now", "unavailable", 1013, 503, YES)         \
    X(MCPX_ERESTART, "the service restarts", "restarting", 1012, 0, YES)                      \
    X(MCPX_EOPENING, "the topic is being opened", "opening", 0, 0, YES)                       \
    X(MCPX_EDUPLICATE, "id was used in this topic already", "duplicate_id", 0, 409, YES)      \
    X(MCPX_ESLOW, "slow consumer: its backlog is too large", "slow_consumer", 4003, 0, YES)   \
    X(MCPX_EFLOOD, "too many refused or unfinished messages", "policy_violation", 1008, 0,    \
      NO)                                                                                     \
    X(MCPX_EFRAMES, "frames break RFC 6455", "protocol_error", 1002, 0, NO)                   \
    X(MCPX_ECLOSED, "closed by the participant", "closed", 1000, 0, YES)                      \
    X(MCPX_EGOING, "the router is going away", "draining", 1001, 503, YES)                    \
    X(MCPX_ETIMEOUT, "no answer in time", "timeout", 1001, 0, YES)                            \
    X(MCPX_EREPLACED, "replaced by a newer connection", "replaced", 4001, 0, INSTANCE)        \
    X(MCPX_EKICKED, "removed by an administrator", "kicked", 4004, 403, NO)                   \
    X(MCPX_EEXPIRED, "token expired", "token_expired", 4005, 401, TOKEN)                      \
    X(MCPX_ETOKEN, "token is missing or not valid", "unauthorized", 0, 401, TOKEN)            \
    X(MCPX_ETOPIC, "topic is missing or malformed", "bad_topic", 0, 400, NO)                  \
    X(MCPX_EFORBIDDEN, "token is not valid for this topic", "forbidden", 0, 403, NO)          \
    X(MCPX_EORIGIN, "origin is not allowed", "origin_not_allowed", 0, 403, NO)                \
    X(MCPX_ENOTOPIC, "no such topic", "no_such_topic", 0, 404, NO)                            \
    X(MCPX_ENOTFOUND, "not found", "not_found", 0, 404, NO)                                   \
    X(MCPX_EPRESENT, "participant is already connected", "already_connected", 0, 409, YES)    \
    X(MCPX_EFLAPPING, "participant came back too often", "too_many_takeovers", 0, 409, YES)   \
    X(MCPX_EINSTANCES, "participant is connected too often", "too_many_instances", 0, 409,    \
      YES)                                                                                    \
    X(MCPX_ECONNECTS, "too many connection attempts", "connect_rate", 0, 429, YES)            \
    X(MCPX_EREQUESTS, "too many requests", "request_rate", 0, 429, YES)                       \
    X(MCPX_EFULL, "topic or router is full", "full", 0, 503, YES)                             \
    X(MCPX_ESHARE, "the cap of the participant is reached", "share_used", 0, 429, YES)        \
    X(MCPX_EREQUEST, "request is not understood", "bad_request", 0, 400, NO)                  \
    X(MCPX_EMETHOD, "method is not allowed here", "method_not_allowed", 0, 405, NO)           \
    X(MCPX_EPATTERN, "not a valid capability pattern", "invalid_pattern", 0, 400, NO)         \
    X(MCPX_EKIND, "not a valid kind", "invalid_kind", 0, 400, NO)                             \
    X(MCPX_ELIMIT, "more than the limit allows", "limit_exceeded", 0, 400, NO)                \
    X(MCPX_ECONFIG, "configuration is not valid", "invalid_config", 0, 422, NO)               \
    X(MCPX_ESYSTEM, "the operating system refused", "system_error", 1011, 500, YES)

#define MCPX_ERROR_CONSTANT(constant, text, wire, close_code, status, again) constant,
enum mcpx_err { MCPX_OK = 0, MCPX_ERRORS(MCPX_ERROR_CONSTANT) MCPX_ERR_COUNT };
#undef MCPX_ERROR_CONSTANT

/*
 * Whether a participant connects again after its connection was ended or refused.
 * Protocol: sections 6 and 7
 *
 *   YES       after a pause: the answer may be another one
 *   TOKEN     only with another token
 *   INSTANCE  only as an instance, with a number of its own
 *   NO        the same would happen again
 */
enum mcpx_again { MCPX_AGAIN_YES, MCPX_AGAIN_TOKEN, MCPX_AGAIN_INSTANCE, MCPX_AGAIN_NO };

/** The text for people; "ok" for MCPX_OK, "unknown error" outside the table. Static. */
MCPX_API const char *mcpx_strerror(enum mcpx_err err);

/** The name used in `system/error` and in HTTP problems; "" for MCPX_OK. Static. */
MCPX_API const char *mcpx_error_wire(enum mcpx_err err);

/** The WebSocket close code with which the error ends a connection; 0 when it ends none. */
MCPX_API int mcpx_error_close(enum mcpx_err err);

/** The HTTP status of an answer with this error; 0 when no HTTP answer has it. */
MCPX_API int mcpx_error_status(enum mcpx_err err);

/**
 * Whether to connect again.
 *
 * code   a close code, or the HTTP status of a refused attempt. MCPX_AGAIN_YES for a code
 *        without a row, and for 0 (the connection broke)
 */
MCPX_API enum mcpx_again mcpx_error_again(int code);

MCPX_END_C

#endif
