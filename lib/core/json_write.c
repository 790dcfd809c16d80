/*
 * json_write.c - the escaping rules of RFC 8259 section 7, written once for every JSON text that
 * is composed here and not passed on. Runs that need no escape are copied whole.
 */
#include <mcpx/json.h>

#include <stdio.h>

/* DEL is legal in JSON, but a terminal that shows a log would obey it. */
static bool must_escape(unsigned char byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f;
}

static void put_escape(struct mcpx_text *buf, unsigned char byte)
{
    char escape[8];

    if (byte == '"' || byte == '\\') {
        snprintf(escape, sizeof escape, "\\%c", byte);
    } else if (byte == '\n') {
        snprintf(escape, sizeof escape, "\\n");
    } else {
        snprintf(escape, sizeof escape, "\\u%04x", byte);
    }
    mcpx_text_puts(buf, escape);
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

void mcpx_json_add_member(struct mcpx_text *buf, const char *name, struct mcpx_slice text)
{
    mcpx_text_add(buf, "\"", 1);
    mcpx_text_puts(buf, name);
    mcpx_text_add(buf, "\":", 2);
    mcpx_json_add_string(buf, text);
}
