/*
 * http_server.c - strict where libwebsockets is generous: it would wait for 100 MB when a POST
 * names no length, take "-5" and "3, 5" for numbers, and hand out chunk headers as content. So a
 * length is digits, comes once and is small, and nothing else describes a body. A body nobody
 * asked for is never read: the answer goes out and the connection ends.
 * Includes http_server.h, request.h, answer.h, libwebsockets.
 */
#include "router/edge/http_server.h"
#include "router/edge/answer.h"
#include "router/edge/request.h"

#include <libwebsockets.h>
#include <stdlib.h>

enum { LENGTH_DIGITS_MAX = 9 };

struct exchange {
    struct request request;
    struct mcpx_text body;
    size_t expected;
};

static const struct answer_status length_required = {
    411, "Length Required", "", "Content-Length is required and has to be one decimal number"};
static const struct answer_status bad_length = {400, "Bad Request", "",
                                                "Content-Length has to be one decimal number"};
static const struct answer_status not_implemented = {
    501, "Not Implemented", "", "Transfer-Encoding is not supported; send Content-Length"};
static const struct answer_status expectation_failed = {417, "Expectation Failed", "",
                                                        "only 100-continue can be expected"};

static bool has(struct lws *wsi, int token)
{
    return lws_hdr_total_length(wsi, (enum lws_token_indexes)token) > 0;
}

static bool read_length(struct lws *wsi, size_t *out)
{
    struct mcpx_text value = {0};
    size_t i, length = 0;
    bool ok = request_header(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, &value) &&
              value.len <= LENGTH_DIGITS_MAX;

    for (i = 0; ok && i < value.len; i++) {
        ok = value.text[i] >= '0' && value.text[i] <= '9';
        length = length * 10 + (size_t)(value.text[i] - '0');
    }
    mcpx_text_fini(&value);
    if (ok)
        *out = length;
    return ok;
}

static bool takes_body(const struct http_request *request)
{
    return mcpx_slice_equal(request->method, MCPX_SLICE("POST")) ||
           mcpx_slice_equal(request->method, MCPX_SLICE("PUT")) ||
           mcpx_slice_equal(request->method, MCPX_SLICE("PATCH"));
}

static int answer(struct connection *connection, struct http_request *request)
{
    struct edge *edge = connection->edge;
    struct mcpx_text text = {0};
    int result;

    http_answer(&edge->api, request, edge_now(edge), &text);
    if (log_wants(LOG_DEBUG)) {
        const char *query = memchr(request->target.text, '?', request->target.len);
        struct mcpx_slice path = request->target;

        if (query) /* it may hold a ticket */
            path.len = (size_t)(query - path.text);
        LOG(LOG_DEBUG, "request", log_text("method", request->method), log_text("path", path),
            log_text("status", (struct mcpx_slice){text.text ? text.text + 9 : "",
                                                   text.len > 12 ? 3 : 0}));
    }
    result = answer_send(connection->wsi, &text);
    mcpx_text_fini(&text);
    return result;
}

/* Returns 0 when the body can come, -1 when a refusal was written. */
static int judge_body(struct lws *wsi, const struct http_request *request, size_t *length)
{
    *length = 0;
    if (has(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING))
        return answer_refuse(wsi, &not_implemented);
    if (!has(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH))
        return takes_body(request) ? answer_refuse(wsi, &length_required) : 0;
    if (!read_length(wsi, length))
        return answer_refuse(wsi, &bad_length);
    if (*length > HTTP_BODY_MAX)
        return answer_problem(wsi, MCPX_ETOOBIG, "the body is larger than 65536 bytes");
    if (!takes_body(request))
        *length = 0;
    return 0;
}

static int invite(struct lws *wsi)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

    if (!has(wsi, WSI_TOKEN_HTTP_EXPECT))
        return 0;
    if (!request_header_is(wsi, WSI_TOKEN_HTTP_EXPECT, "100-continue"))
        return answer_refuse(wsi, &expectation_failed);
    return lws_write(wsi, (unsigned char *)text, sizeof text - 1, LWS_WRITE_HTTP) < 0 ? -1 : 0;
}

int http_server_head(struct connection *connection)
{
    struct lws *wsi = connection->wsi;
    struct exchange *exchange = calloc(1, sizeof *exchange);

    if (!exchange)
        return answer_problem(wsi, MCPX_ENOMEM, NULL);
    exchange_free(connection->exchange);
    connection->exchange = exchange;
    if (!request_read(wsi, &exchange->request))
        return answer_problem(wsi, MCPX_EREQUEST, NULL);
    exchange->request.http.from = connection->from;
    if (judge_body(wsi, &exchange->request.http, &exchange->expected))
        return -1;
    if (!exchange->expected) /* libwebsockets never completes an empty PUT: answer here */
        return answer(connection, &exchange->request.http);
    return invite(wsi);
}

int http_server_body(struct connection *connection, const void *bytes, size_t len)
{
    struct exchange *exchange = connection->exchange;

    if (!exchange || len > exchange->expected - exchange->body.len)
        return -1;
    mcpx_text_add(&exchange->body, bytes, len);
    return exchange->body.failed ? answer_problem(connection->wsi, MCPX_ENOMEM, NULL) : 0;
}

int http_server_complete(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;

    if (!exchange || exchange->body.len != exchange->expected)
        return -1;
    exchange->request.http.body = mcpx_text_view(&exchange->body);
    return answer(connection, &exchange->request.http);
}

void exchange_free(struct exchange *exchange)
{
    if (!exchange)
        return;
    request_fini(&exchange->request);
    mcpx_text_fini(&exchange->body);
    free(exchange);
}
