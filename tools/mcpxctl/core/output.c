/*
 * output.c - text is composed first and written at once, so that a verb that fails half way
 * prints nothing that looks like an answer. Text for a terminal always passes a last filter
 * here. Text for a program keeps its bytes.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "tools/common/command.h"
#include "tools/common/visible.h"

#include <mcpx/json.h>
#include <stdio.h>
#include <unistd.h>

bool output_is_looked_at(const struct arguments *arguments)
{
    return isatty(STDOUT_FILENO) && !arguments_have(arguments, "--json");
}

int output_print_list(const struct arguments *arguments, const struct connection *where,
                      struct mcpx_text *text, const char *nothing)
{
    if (text->len == 0 && output_is_looked_at(arguments))
        complain(arguments->command->name, "%s in the topic %s", nothing, where->client.topic);
    return output_print(text, STATUS_OK);
}

int output_print(struct mcpx_text *text, int status)
{
    struct mcpx_text shown = {0};

    if (text->len > 0 && isatty(STDOUT_FILENO)) {
        text_shown(&shown, text_whole(text));
        mcpx_text_fini(text);
        *text = shown;
    }
    if (text_whole(text).len > 0)
        fwrite(text->text, 1, text->len, stdout);
    (void)output_error();
    mcpx_text_fini(text);
    return status;
}

int output_answer(const struct arguments *arguments, const struct mcpx_text *answer,
                  void (*tell)(struct mcpx_text *out, struct mcpx_slice answer))
{
    const char *verb = arguments->command->name;
    struct mcpx_text out = {0};
    struct mcpx_slice value;

    if (mcpx_json_check(mcpx_text_view(answer), 0, &value, NULL) != MCPX_OK)
        return fail_with(STATUS_FAILED, verb, "the router's answer is not JSON");
    if (arguments_have(arguments, "--json")) {
        text_compact(&out, value);
        mcpx_text_puts(&out, "\n");
    } else {
        tell(&out, value);
    }
    return output_print(&out, STATUS_OK);
}
