/*
 * answer.c - the answer of a call as text for people and as exit code.
 */
#include "tools/mcpxctl/message.h"

#include "tools/common/status.h"
#include "tools/common/visible.h"

static size_t size_of_base64(const struct mcpx_text *text)
{
    size_t len = text->len;

    while (len > 0 && text->text[len - 1] == '=')
        len--;
    return len * 3 / 4;
}

/* What has a text is shown as that, what has data in base64 as type and size. */
static void write_item(struct mcpx_text *out, struct mcpx_slice item, bool raw)
{
    struct mcpx_slice resource = mcpx_json_get(item, "resource"), type;
    struct mcpx_slice holder = resource.text ? resource : item;
    struct mcpx_slice data = mcpx_json_get(holder, "data");
    struct mcpx_text plain = {0};

    if (!data.text)
        data = mcpx_json_get(holder, "blob");
    if (mcpx_json_add_unescaped(&plain, mcpx_json_get(holder, "text"))) {
        if (raw)
            mcpx_text_slice(out, mcpx_text_view(&plain));
        else
            text_lines(out, mcpx_text_view(&plain));
        if (plain.len == 0 || plain.text[plain.len - 1] != '\n')
            mcpx_text_puts(out, "\n");
    } else if (mcpx_json_add_unescaped(&plain, data)) {
        type = mcpx_json_get(holder, "mimeType");
        text_format(out, "[%v, %s bytes]\n", type.text ? type : MCPX_SLICE("\"data\""),
                    size_of_base64(&plain));
    } else {
        text_pretty(out, item, 0);
        mcpx_text_puts(out, "\n");
    }
    out->failed |= plain.failed;
    mcpx_text_fini(&plain);
}

/* One item, or a list of them. */
static void write_content(struct mcpx_text *out, struct mcpx_slice content, bool raw)
{
    struct mcpx_json_walk walk;

    if (mcpx_json_type(content) != MCPX_JSON_ARRAY) {
        write_item(out, content, raw);
        return;
    }
    mcpx_json_walk_start(&walk, content);
    while (mcpx_json_walk_next(&walk))
        write_item(out, walk.value, raw);
}

static void write_messages(struct mcpx_text *out, struct mcpx_slice messages, bool raw)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, messages);
    while (mcpx_json_walk_next(&walk)) {
        text_format(out, "%v: ", mcpx_json_get(walk.value, "role"));
        write_content(out, mcpx_json_get(walk.value, "content"), raw);
    }
}

void result_write(struct mcpx_text *out, struct mcpx_slice result, bool raw)
{
    struct mcpx_slice content = mcpx_json_get(result, "content");
    struct mcpx_slice messages = mcpx_json_get(result, "messages");

    if (!content.text)
        content = mcpx_json_get(result, "contents");
    if (mcpx_json_type(messages) == MCPX_JSON_ARRAY)
        write_messages(out, messages, raw);
    else
        write_content(out, mcpx_json_type(content) == MCPX_JSON_ARRAY ? content : result, raw);
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
