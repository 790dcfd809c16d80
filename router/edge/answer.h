/*
 * answer.h - the one way an HTTP answer leaves: whole, in one write, and then the connection
 * ends. Includes http_api.h.
 */
#ifndef EDGE_ANSWER_H
#define EDGE_ANSWER_H

#include "router/edge/http_api.h"

struct lws;

/**
 * A refusal that the table of errors has no row for, because only HTTP knows it.
 *
 * status, title   of the status line
 * header          one more header line with its CRLF, or ""
 * detail          a sentence for people; plain ASCII without quotes
 */
struct answer_status {
    int status;
    const char *title;
    const char *header;
    const char *detail;
};

/**
 * Writes the answer and returns -1, which a libwebsockets callback returns in turn to end the
 * connection. The socket's buffer is enlarged first, so that the kernel takes the whole of it.
 */
int answer_send(struct lws *wsi, struct mcpx_text *answer);

/** Answers with http_problem(err, detail); returns -1. `detail` may be NULL. */
int answer_problem(struct lws *wsi, enum mcpx_err err, const char *detail);

/** Answers with a problem of this status, code "bad_request"; returns -1. */
int answer_refuse(struct lws *wsi, const struct answer_status *why);

#endif
