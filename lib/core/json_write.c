/*
 * json_write.c - the escaping rules of RFC 8259 section 7, and where commas stand, written once for
 * every JSON text that is composed here and not passed on. Runs that need no escape are copied
 * whole. A writer that keeps a stack of what is open was refused: the last byte says as much, and
 * so texts can be composed by functions that share nothing but the text.
 */
#include "lib/core/json_write.h"

#include <mcpx/json.h>

/* DEL is legal in JSON, but a terminal that shows a log would obey it. */
static bool must_escape(unsigned char byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f;
}

/* A document within a string has an escape every few bytes; so no format is read for it. */
static void put_escape(struct mcpx_text *buf, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    char escape[] = {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    bool is_short = byte == '"' || byte == '\\' || byte == '\n';

    if (is_short)
        escape[1] = byte == '\n' ? 'n' : (char)byte;
    mcpx_text_add(buf, escape, is_short ? 2 : sizeof escape);
}

void mcpx_json_add_string(struct mcpx_text *buf, struct mcpx_slice text)
{
    size_t done = 0;

    mcpx_text_add(buf, "\"", 1);
    for (size_t at = 0; at < text.len; at++) {
        if (!must_escape((unsigned char)text.text[at]))
            continue;
        mcpx_text_add(buf, text.text + done, at - done);
        put_escape(buf, (unsigned char)text.text[at]);
        done = at + 1;
    }
    if (done < text.len)
        mcpx_text_add(buf, text.text + done, text.len - done);
    mcpx_text_add(buf, "\"", 1);
}

static bool is_white(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* True behind a value, which another member or item must be kept apart from. */
static bool needs_comma(const struct mcpx_text *out)
{
    size_t len = out->len;
    char last;

    while (len > 0 && is_white(out->text[len - 1]))
        len--;
    if (len == 0)
        return false;
    last = out->text[len - 1];
    return last != '{' && last != '[' && last != ':' && last != ',';
}

/* Appends what stands before a value. */
static void put_name(struct mcpx_text *out, const char *name)
{
    if (needs_comma(out))
        mcpx_text_add(out, ",", 1);
    if (!name)
        return;
    mcpx_text_add(out, "\"", 1);
    mcpx_text_puts(out, name);
    mcpx_text_add(out, "\":", 2);
}

void mcpx_json_add_member(struct mcpx_text *buf, const char *name, struct mcpx_slice text)
{
    put_name(buf, name);
    mcpx_json_add_string(buf, text);
}

void mx_json_begin_object(struct mcpx_text *out, const char *name)
{
    put_name(out, name);
    mcpx_text_add(out, "{", 1);
}

void mx_json_end_object(struct mcpx_text *out)
{
    mcpx_text_add(out, "}", 1);
}

void mx_json_begin_array(struct mcpx_text *out, const char *name)
{
    put_name(out, name);
    mcpx_text_add(out, "[", 1);
}

void mx_json_end_array(struct mcpx_text *out)
{
    mcpx_text_add(out, "]", 1);
}

void mx_json_add_raw(struct mcpx_text *out, const char *name, struct mcpx_slice value)
{
    put_name(out, name);
    mcpx_text_slice(out, value);
}

void mx_json_add_number(struct mcpx_text *out, const char *name, int64_t number)
{
    put_name(out, name);
    mcpx_text_number(out, number);
}

void mx_json_add_bool(struct mcpx_text *out, const char *name, bool value)
{
    mx_json_add_raw(out, name, value ? MCPX_SLICE("true") : MCPX_SLICE("false"));
}

void mx_json_add_item(struct mcpx_text *out, struct mcpx_slice text)
{
    put_name(out, NULL);
    mcpx_json_add_string(out, text);
}

void mx_json_add_optional(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    if (text.text)
        mcpx_json_add_member(out, name, text);
}

void mx_json_add_strings(struct mcpx_text *out, const char *name,
                         const struct mcpx_slice *texts, size_t count)
{
    mx_json_begin_array(out, name);
    for (size_t i = 0; i < count; i++)
        mx_json_add_item(out, texts[i]);
    mx_json_end_array(out);
}
