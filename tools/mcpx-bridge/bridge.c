/*
 * bridge.c - the few texts of JSON-RPC that a bridge writes itself. They are composed rather than
 * built as values, because ids and data are raw JSON that must keep its bytes.
 */
#define _GNU_SOURCE /* memmem */
#include "tools/mcpx-bridge/bridge.h"

#include "lib/base/digits.h"
#include "lib/json/escape.h"
#include "lib/json/json_write.h"

/* The setting that the router's operator must raise. */
#define SETTING "limits.message_bytes"

void bridge_add_error(struct mcpx_text *out, struct mcpx_slice id, int code,
                      struct mcpx_slice message, const struct mcpx_text *data)
{
    struct mcpx_slice more = data ? mcpx_text_view(data) : (struct mcpx_slice){0};

    mx_format(
        out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%s,\"message\":%q%s%s}}",
        id.text ? id : MCPX_SLICE("null"), code, message, more.len ? ",\"data\":" : "", more);
}

void bridge_add_result(struct mcpx_text *out, struct mcpx_slice id, struct mcpx_slice result)
{
    mx_format(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}",
              id.text ? id : MCPX_SLICE("null"), result);
}

void bridge_add_notice(struct mcpx_text *out, const char *method,
                       const struct mcpx_text *params)
{
    mx_format(out, "{\"jsonrpc\":\"2.0\",\"method\":%q%s%s}", method,
              params->len ? ",\"params\":" : "", params);
}

void bridge_add_with(struct mcpx_text *out, struct mcpx_slice object, const char *name,
                     const struct mcpx_text *value)
{
    struct mcpx_json_change change = {name, mcpx_text_view(value)};

    mcpx_json_add_changed(out, object, &change, 1);
}

void bridge_add_with_string(struct mcpx_text *out, struct mcpx_slice object, const char *name,
                            struct mcpx_slice value)
{
    mx_scoped_text string = {0};

    mcpx_json_add_string(&string, value);
    bridge_add_with(out, object, name, &string);
}

void bridge_add_meta(struct mcpx_text *out, struct mcpx_slice object, const char *name,
                     const struct mcpx_text *value)
{
    struct mcpx_slice own = mcpx_json_get(object, "_meta");
    mx_scoped_text meta = {0};

    if (mcpx_json_type(own) != MCPX_JSON_OBJECT)
        own = MCPX_SLICE("{}");
    bridge_add_with(&meta, own, name, value);
    bridge_add_with(out, object, "_meta", &meta);
}

void bridge_add_message(struct mcpx_text *out, struct mcpx_slice message, struct mcpx_slice id,
                        const char *name, struct mcpx_slice value)
{
    struct mcpx_json_change changes[] = {
        {"jsonrpc", MCPX_SLICE("\"2.0\"")}, {"id", id}, {name, value}};

    mcpx_json_add_changed(out, message, changes, value.text ? 3 : 2);
}

void bridge_flatten(struct mcpx_text *message)
{
    const char *end = message->text + message->len;

    for (const char *byte = message->len ? "\n\r" : ""; *byte; byte++)
        for (char *at = message->text; (at = memchr(at, *byte, (size_t)(end - at))); at++)
            *at = ' ';
}

bool bridge_number(struct mcpx_slice value, int64_t *out)
{
    size_t end = value.len;
    uint64_t number;

    if (!value.text)
        return false;
    while (end > 0 && value.text[end - 1] == '0')
        end--;
    if (value.len > 2 && value.text[0] == '"')
        value = (struct mcpx_slice){value.text + 1, value.len - 2};
    else if (end > 0 && end < value.len && value.text[end - 1] == '.')
        value.len = end - 1;
    if (!mx_decimal_read(value, INT64_MAX, &number))
        return false;
    *out = (int64_t)number;
    return true;
}

void bridge_add_too_big(struct mcpx_text *out, struct mcpx_text *data, const char *what,
                        size_t bytes, size_t limit)
{
    mx_format(out,
              "%s of %s bytes does not fit, with its envelope, into a message of at most %s "
              "bytes (the router's setting " SETTING ")",
              what, bytes, limit);
    if (data)
        mx_format(data, "{\"bytes\":%s,\"limit\":%s,\"setting\":\"" SETTING "\"}", bytes,
                  limit);
}

bool bridge_is_among(struct mcpx_slice text, const char *const *words)
{
    while (*words && !bridge_is(text, *words))
        words++;
    return *words;
}

static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                     "error", "critical", "alert",  "emergency"};

unsigned bridge_log_level(struct mcpx_slice raw)
{
    unsigned level = sizeof levels / sizeof *levels;

    while (level > 0 && !mcpx_json_equals(raw, mcpx_slice_of(levels[level - 1])))
        level--;
    return level;
}

const char *bridge_log_name(unsigned level)
{
    return levels[level - 1];
}

/* Offset of the first value of a member that is itself an object or an array; len = none. */
static size_t first_nested(struct mcpx_slice text)
{
    bool in_string = false;
    size_t i = 0;

    while (i < text.len && text.text[i] != '{')
        i++;
    for (i++; i < text.len; i++) {
        if (in_string && text.text[i] == '\\')
            i++;
        else if (text.text[i] == '"')
            in_string = !in_string;
        else if (!in_string && (text.text[i] == '{' || text.text[i] == '['))
            return i;
    }
    return text.len;
}

/* The members before the nested one are whole: with an empty value in its place this is JSON. */
void bridge_read_beginning(struct mcpx_slice beginning, struct mcpx_slice *id, bool *is_answer)
{
    size_t len = first_nested(beginning);
    mx_scoped_text whole = {0};
    struct mcpx_slice value, found;

    *id = (struct mcpx_slice){0};
    *is_answer = false;
    if (len >= beginning.len)
        return;
    mcpx_text_add(&whole, beginning.text, len);
    mcpx_text_puts(&whole, "{}}");
    if (mcpx_json_check(mcpx_text_view(&whole), 0, &value, NULL) == MCPX_OK) {
        *is_answer =
            !mcpx_json_get(value, "method").text &&
            (mcpx_json_get(value, "result").text || mcpx_json_get(value, "error").text);
        found = bridge_id(mcpx_json_get(value, "id"));
        if (found.text && mcpx_json_count(value, "id") == 1)
            *id = (struct mcpx_slice){beginning.text + (found.text - whole.text), found.len};
    }
}

/* ---- almost JSON ---- */

static const struct mcpx_slice replacement = {"\xef\xbf\xbd", 3}, mark = {"\xef\xbb\xbf", 3};

static bool is_mended(struct mcpx_slice string)
{
    return memmem(string.text, string.len, replacement.text, replacement.len) != NULL;
}

/*
 * True when a well-formed text lost bytes of a name or of a decisive value. The name by which a
 * server calls itself is only shown.
 */
static bool has_lost(struct mcpx_slice text)
{
    struct mcpx_slice owner = {0}, name = {0}, string;
    size_t at = 0;
    bool lost = false;

    while (!lost && at < text.len) {
        if (text.text[at++] != '"')
            continue;
        string = (struct mcpx_slice){text.text + at, 0};
        for (; text.text[at] != '"'; at++)
            at += text.text[at] == '\\';
        string.len = (size_t)(text.text + at++ - string.text);
        at += strspn(text.text + at, " \t\r\n");
        if (text.text[at] == ':') {
            at += 1 + strspn(text.text + at + 1, " \t\r\n");
            lost = is_mended(string);
            name = string;
            owner = text.text[at] == '{' ? name : owner;
        } else {
            /* Decisive members: a repair might change their meaning. */
            lost = bridge_is_any(name, "id", "jsonrpc", "method", "name", "uri",
                                 "progressToken", "requestId") &&
                   is_mended(string) && !bridge_is(owner, "serverInfo");
            name = (struct mcpx_slice){0};
        }
    }
    return lost;
}

bool bridge_mend(struct mcpx_slice line, struct mcpx_text *out)
{
    const unsigned char *at = (const unsigned char *)line.text, *end = at + line.len;
    struct mcpx_slice value;

    if (line.len >= mark.len && memcmp(at, mark.text, mark.len) == 0)
        at += mark.len;
    while (at < end) {
        size_t len = mx_utf8_sequence(at, end);

        if (len)
            mcpx_text_add(out, (const char *)at, len);
        else
            mcpx_text_slice(out, replacement);
        at += len ? len : 1;
    }
    return mcpx_json_check(mcpx_text_view(out), 0, &value, NULL) == MCPX_OK &&
           !has_lost(mcpx_text_view(out));
}

/* ---- lines of the log ---- */

/*
 * Lines of one sort are held to a rate, so that a flood of one hides no line of another. The sort
 * is how a line begins: a sentence of ours, before the texts of others in it. Varied beginnings
 * meet the rate of all lines.
 */

enum { BEGINNING = 32 };

static const struct mx_rate alike = {600, 100}, all = {3000, 500}, counts = {60, 1};

bool bridge_limit_allows(struct bridge_limit *limit, struct mcpx_slice line, int64_t now_ms)
{
    if (line.len > BEGINNING)
        line.len = BEGINNING;
    limit->alike.rate = alike;
    if (mx_buckets_wait_ms(&limit->alike, line, 1, now_ms) > 0 ||
        !mx_bucket_take(&limit->all, all, 1, now_ms)) {
        limit->left++;
        return false;
    }
    mx_buckets_spend(&limit->alike, line, 1, now_ms);
    return true;
}

uint64_t bridge_limit_take_left(struct bridge_limit *limit, int64_t now_ms)
{
    uint64_t left = limit->left;

    if (left == 0 || !mx_bucket_take(&limit->counts, counts, 1, now_ms))
        return 0;
    limit->left = 0;
    return left;
}
