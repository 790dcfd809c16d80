/*
 * answer.c - the answer of a call as text for people and as exit code.
 */
#include "tools/mcpxctl/message.h"

#include "tools/common/status.h"
#include "tools/common/visible.h"

/* Appends a text item; false when the item is none. */
static bool write_text_item(struct mcpx_text *out, struct mcpx_slice item, bool raw)
{
    struct mcpx_slice text = mcpx_json_get(item, "text");
    struct mcpx_text plain = {0};
    bool is_text = mcpx_json_equals(mcpx_json_get(item, "type"), MCPX_SLICE("text")) &&
                   mcpx_json_add_unescaped(&plain, text);

    if (is_text && raw)
        mcpx_text_slice(out, mcpx_text_view(&plain));
    else if (is_text)
        text_lines(out, mcpx_text_view(&plain));
    if (is_text && (plain.len == 0 || plain.text[plain.len - 1] != '\n'))
        mcpx_text_puts(out, "\n");
    out->failed |= plain.failed;
    mcpx_text_fini(&plain);
    return is_text;
}

static void write_json(struct mcpx_text *out, struct mcpx_slice value)
{
    text_pretty(out, value, 0);
    mcpx_text_puts(out, "\n");
}

void result_write(struct mcpx_text *out, struct mcpx_slice result, bool raw)
{
    struct mcpx_slice content = mcpx_json_get(result, "content");
    struct mcpx_json_walk walk;

    if (mcpx_json_type(content) != MCPX_JSON_ARRAY) {
        write_json(out, result);
        return;
    }
    mcpx_json_walk_start(&walk, content);
    while (mcpx_json_walk_next(&walk))
        if (!write_text_item(out, walk.value, raw))
            write_json(out, walk.value);
}

bool result_is_error(struct mcpx_slice result)
{
    return mcpx_slice_equal(mcpx_json_get(result, "isError"), MCPX_SLICE("true"));
}

int error_write(struct mcpx_text *out, struct mcpx_slice error)
{
    static const struct {
        struct mcpx_slice code;
        int status;
    } rows[] = {
        {{"-32001", 6}, STATUS_TIMEOUT},
        {{"-32002", 6}, STATUS_REFUSED},
        {{"-32003", 6}, STATUS_REFUSED},
    };
    struct mcpx_slice code = mcpx_json_get(error, "code");
    struct mcpx_text message = {0};
    int status = STATUS_FAILED;

    if (mcpx_json_add_unescaped(&message, mcpx_json_get(error, "message")))
        text_visible(out, mcpx_text_view(&message));
    else
        mcpx_text_puts(out, "an error without message");
    text_format(out, " (%s)", code);
    out->failed |= message.failed;
    mcpx_text_fini(&message);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (mcpx_slice_equal(code, rows[i].code))
            status = rows[i].status;
    return status;
}
