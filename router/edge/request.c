/*
 * request.c - reading heads. libwebsockets keeps each header in fragments of a table that is
 * gone as soon as the transaction is; so everything is copied out at once, with its length,
 * because a value may hold NUL.
 * Includes request.h, libwebsockets.
 */
#include "router/edge/request.h"

#include <libwebsockets.h>
#include <strings.h>

/* In the order of lws_http_get_uri_and_method. */
static const char *const methods[] = {"GET",    "POST",    "OPTIONS", "PUT", "PATCH",
                                      "DELETE", "CONNECT", "HEAD",    "PRI"};

bool request_header(struct lws *wsi, int token, struct mcpx_text *out)
{
    int len = lws_hdr_total_length(wsi, (enum lws_token_indexes)token);

    if (len <= 0 || !mcpx_text_reserve(out, (size_t)len + 1))
        return false;
    len = lws_hdr_copy(wsi, out->text + out->len, len + 1, (enum lws_token_indexes)token);
    if (len <= 0)
        return false;
    out->len += (size_t)len;
    return true;
}

bool request_header_is(struct lws *wsi, int token, const char *text)
{
    struct mcpx_text value = {0};
    bool same = request_header(wsi, token, &value) && value.len == strlen(text) &&
                strncasecmp(value.text, text, value.len) == 0;

    mcpx_text_fini(&value);
    return same;
}

static bool list_holds(const char *list, size_t len, const char *word)
{
    size_t at = 0, begin, end, size = strlen(word);

    while (at < len) {
        while (at < len && strchr(", \t", list[at]))
            at++;
        begin = at;
        while (at < len && list[at] != ',')
            at++;
        end = at;
        while (end > begin && strchr(" \t", list[end - 1]))
            end--;
        if (end - begin == size && strncasecmp(list + begin, word, size) == 0)
            return true;
    }
    return false;
}

bool request_header_lists(struct lws *wsi, int token, const char *word)
{
    struct mcpx_text value = {0};
    bool holds = request_header(wsi, token, &value) && list_holds(value.text, value.len, word);

    mcpx_text_fini(&value);
    return holds;
}

static void encode(struct mcpx_text *out, const char *text, size_t len, const char *plain)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t i;

    for (i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        char escape[3] = {'%', hex[c >> 4], hex[c & 15]};
        bool alnum =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (alnum || (c && strchr(plain, c)))
            mcpx_text_add(out, &text[i], 1);
        else
            mcpx_text_add(out, escape, sizeof escape);
    }
}

/* The first '=' of a fragment was written as one; every other was data. */
static void encode_parameter(struct mcpx_text *out, const char *text, size_t len)
{
    const char *equals = memchr(text, '=', len);
    size_t name = equals ? (size_t)(equals - text) : len;

    encode(out, text, name, "-._~");
    if (!equals)
        return;
    mcpx_text_add(out, "=", 1);
    encode(out, equals + 1, len - name - 1, "-._~");
}

static void read_query(struct lws *wsi, struct mcpx_text *out)
{
    int i, len, size = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_URI_ARGS);
    struct mcpx_text part = {0};

    if (size <= 0)
        return;
    if (!mcpx_text_reserve(&part, (size_t)size + 1)) {
        out->failed = true;
        return;
    }
    for (i = 0;; i++) {
        len = lws_hdr_copy_fragment(wsi, part.text, size + 1, WSI_TOKEN_HTTP_URI_ARGS, i);
        if (len < 0)
            break;
        mcpx_text_add(out, i ? "&" : "?", 1);
        encode_parameter(out, part.text, (size_t)len);
    }
    mcpx_text_fini(&part);
}

static struct mcpx_slice read_optional(struct lws *wsi, int token, struct mcpx_text *out)
{
    return request_header(wsi, token, out) ? mcpx_text_view(out) : (struct mcpx_slice){0};
}

bool request_read(struct lws *wsi, struct request *out)
{
    char *path = NULL;
    int len = 0, method = lws_http_get_uri_and_method(wsi, &path, &len);

    if (method < 0 || (size_t)method >= sizeof methods / sizeof *methods || !path)
        return false;
    encode(&out->target, path, (size_t)len, "/-._~:@$,!*'()");
    read_query(wsi, &out->target);
    out->http.method = mcpx_slice_of(methods[method]);
    out->http.target = mcpx_text_view(&out->target);
    out->http.authorization =
        read_optional(wsi, WSI_TOKEN_HTTP_AUTHORIZATION, &out->authorization);
    out->http.origin = read_optional(wsi, WSI_TOKEN_ORIGIN, &out->origin);
    out->http.content_type =
        read_optional(wsi, WSI_TOKEN_HTTP_CONTENT_TYPE, &out->content_type);
    return !out->target.failed && !out->authorization.failed && !out->origin.failed &&
           !out->content_type.failed;
}

void request_fini(struct request *request)
{
    mcpx_text_fini(&request->target);
    mcpx_text_fini(&request->authorization);
    mcpx_text_fini(&request->origin);
    mcpx_text_fini(&request->content_type);
    *request = (struct request){0};
}
