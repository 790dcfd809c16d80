/*
 * json.c - the escaping rules of RFC 8259 section 7, written once for every JSON text that the
 * router composes itself. Runs that need no escape are copied whole.
 * Includes json.h only.
 */
#include "lib/core/json.h"

#include <stdio.h>

/* DEL is legal in JSON, but a terminal that shows a log would obey it. */
static bool must_escape(unsigned char byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f;
}

static void put_escape(struct mx_strbuf *buf, unsigned char byte)
{
    char escape[8];

    if (byte == '"' || byte == '\\') {
        snprintf(escape, sizeof escape, "\\%c", byte);
    } else if (byte == '\n') {
        snprintf(escape, sizeof escape, "\\n");
    } else {
        snprintf(escape, sizeof escape, "\\u%04x", byte);
    }
    mx_strbuf_puts(buf, escape);
}

void mx_json_string(struct mx_strbuf *buf, struct mcpx_slice text)
{
    size_t done = 0;

    mx_strbuf_add(buf, "\"", 1);
    for (size_t at = 0; at < text.len; at++) {
        if (!must_escape((unsigned char)text.text[at]))
            continue;
        mx_strbuf_add(buf, text.text + done, at - done);
        put_escape(buf, (unsigned char)text.text[at]);
        done = at + 1;
    }
    if (done < text.len)
        mx_strbuf_add(buf, text.text + done, text.len - done);
    mx_strbuf_add(buf, "\"", 1);
}

void mx_json_member(struct mx_strbuf *buf, const char *name, struct mcpx_slice text)
{
    mx_strbuf_add(buf, "\"", 1);
    mx_strbuf_puts(buf, name);
    mx_strbuf_add(buf, "\":", 2);
    mx_json_string(buf, text);
}
