/*
 * pretty.c - changes the layout of JSON, token by token. It builds no values, so it shows the bytes
 * that were sent: 1.10, 1e400, a name that appears twice.
 */
#include "tools/common/visible.h"

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* The next token: a string, a punctuation mark, or a run of anything else. Absent at the end. */
static struct mcpx_slice next_token(struct mcpx_slice *text)
{
    size_t at = 0, len = 1;
    struct mcpx_slice token;

    while (at < text->len && is_space(text->text[at]))
        at++;
    if (at == text->len)
        return (struct mcpx_slice){NULL, 0};
    token.text = text->text + at;
    if (token.text[0] == '"') {
        while (at + len < text->len && token.text[len] != '"')
            len += token.text[len] == '\\' ? 2 : 1;
        len++;
    } else if (!strchr("{}[]:,", token.text[0])) {
        while (at + len < text->len && !is_space(token.text[len]) &&
               !strchr("{}[]:,", token.text[len]))
            len++;
    }
    token.len = len <= text->len - at ? len : text->len - at;
    *text = (struct mcpx_slice){token.text + token.len, text->len - at - token.len};
    return token;
}

void text_compact(struct mcpx_text *out, struct mcpx_slice value)
{
    for (struct mcpx_slice token = next_token(&value); token.text; token = next_token(&value))
        mcpx_text_slice(out, token);
}

static void new_line(struct mcpx_text *out, size_t spaces)
{
    mcpx_text_puts(out, "\n");
    while (spaces-- > 0)
        mcpx_text_puts(out, " ");
}

void text_pretty(struct mcpx_text *out, struct mcpx_slice value, size_t indent)
{
    char last = '\0';

    for (struct mcpx_slice token = next_token(&value); token.text;
         token = next_token(&value)) {
        char first = token.text[0];
        bool closes = first == '}' || first == ']', opened = last == '{' || last == '[';

        indent -= closes ? 2 : 0;
        if (closes ? !opened : opened || last == ',')
            new_line(out, indent);
        text_visible_exact(out, token);
        if (first == ':')
            mcpx_text_puts(out, " ");
        indent += first == '{' || first == '[' ? 2 : 0;
        last = first;
    }
}
