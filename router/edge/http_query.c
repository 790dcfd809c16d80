/*
 * http_query.c - reads request targets without regard for what they ask. Everything decoded goes
 * into one buffer whose size is known beforehand (decoding never grows a text), so slices of it
 * can be handed around. A map of all parameters was refused: a caller names the few that it
 * understands. Nobody needs a token to send a thousand others, so they must not cost memory.
 */
#include "router/edge/http_query.h"

#include "lib/core/digits.h"

enum { NAME_MAX_LEN = 16 };

bool http_target_parse(struct mcpx_slice raw, struct http_target *out)
{
    const char *question;
    size_t path_len;

    if (raw.len == 0 || raw.text[0] != '/')
        return false;
    for (size_t i = 0; i < raw.len; i++) {
        unsigned char byte = (unsigned char)raw.text[i];

        if (byte <= 0x20 || byte == 0x7f)
            return false;
    }
    question = memchr(raw.text, '?', raw.len);
    path_len = question ? (size_t)(question - raw.text) : raw.len;
    out->path = (struct mcpx_slice){raw.text, path_len};
    out->query = question ? (struct mcpx_slice){question + 1, raw.len - path_len - 1}
                          : (struct mcpx_slice){0};
    return true;
}

/* The byte at `at` and how many raw bytes stand for it; 0 of them when malformed. */
static size_t decode_byte(struct mcpx_slice raw, size_t at, enum http_plus plus, char *byte)
{
    size_t taken = mx_percent_read((struct mcpx_slice){raw.text + at, raw.len - at}, byte);

    if (taken == 1 && *byte == '+' && plus == HTTP_PLUS_SPACE)
        *byte = ' ';
    return taken == 1 && *byte == '%' ? 0 : taken;
}

bool http_decode(struct mcpx_slice raw, enum http_plus plus, struct mcpx_text *scratch,
                 struct mcpx_slice *out)
{
    size_t begin = scratch->len;
    size_t at = 0;

    while (at < raw.len) {
        char byte;
        size_t taken = decode_byte(raw, at, plus, &byte);

        if (taken == 0)
            return false;
        mcpx_text_add(scratch, &byte, 1);
        at += taken;
    }
    *out = scratch->text ? (struct mcpx_slice){scratch->text + begin, scratch->len - begin}
                         : MCPX_SLICE("");
    return true;
}

/* Cuts the next "name=value" off `rest`; false at the end. A name alone has an empty value. */
static bool next_pair(struct mcpx_slice *rest, struct mcpx_slice *name,
                      struct mcpx_slice *value)
{
    const char *end, *equals;
    size_t len;

    if (rest->len == 0)
        return false;
    end = memchr(rest->text, '&', rest->len);
    len = end ? (size_t)(end - rest->text) : rest->len;
    equals = memchr(rest->text, '=', len);
    *name = (struct mcpx_slice){rest->text, equals ? (size_t)(equals - rest->text) : len};
    *value = equals ? (struct mcpx_slice){equals + 1, len - name->len - 1} : MCPX_SLICE("");
    rest->text += end ? len + 1 : len;
    rest->len -= end ? len + 1 : len;
    return true;
}

/*
 * Names are decoded before they are compared: "t%6Fpic" is `topic` to every other reader of
 * query strings, and two of them must not name two topics.
 */
static struct http_param *find_param(struct mcpx_slice raw, struct http_param *params,
                                     size_t count)
{
    char name[NAME_MAX_LEN];
    size_t len = 0;

    for (size_t at = 0; at < raw.len;) {
        size_t taken;

        if (len == NAME_MAX_LEN)
            return NULL;
        taken = decode_byte(raw, at, HTTP_PLUS_SPACE, &name[len++]);
        if (taken == 0)
            return NULL;
        at += taken;
    }
    for (size_t i = 0; i < count; i++) {
        if (mcpx_slice_equal((struct mcpx_slice){name, len}, mcpx_slice_of(params[i].name)))
            return &params[i];
    }
    return NULL;
}

enum http_param_fault http_params_read(struct mcpx_slice query, struct http_param *params,
                                       size_t count, struct mcpx_text *scratch, size_t *bad)
{
    struct mcpx_slice name, value;

    while (next_pair(&query, &name, &value)) {
        struct http_param *param = find_param(name, params, count);

        if (!param)
            continue;
        *bad = (size_t)(param - params);
        if (param->value.text)
            return HTTP_PARAM_TWICE;
        if (!http_decode(value, HTTP_PLUS_SPACE, scratch, &param->value))
            return HTTP_PARAM_MALFORMED;
    }
    return HTTP_PARAM_OK;
}

bool http_decimal(struct mcpx_slice text, size_t max, size_t *out)
{
    uint64_t number;

    if (!mx_decimal_read(text, max, &number))
        return false;
    *out = (size_t)number;
    return true;
}
