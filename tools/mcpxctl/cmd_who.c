/*
 * cmd_who.c - shows the participants, and what each may send.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/common/colour.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/fetch.h"
#include "tools/mcpxctl/output.h"
#include <mcpx/json.h>

static void add_participant(struct mcpx_text *out, struct mcpx_slice participant, bool colour)
{
    struct mcpx_json_walk walk;
    bool any = false;

    paint_begin(out, PAINT_NAME, colour);
    text_visible_value(out, mcpx_json_get(participant, "id"), SIZE_MAX);
    paint_end(out, PAINT_NAME, colour);
    mcpx_json_walk_start(&walk, mcpx_json_get(participant, "capabilities"));
    for (; mcpx_json_walk_next(&walk); any = true) {
        text_format(out, any ? ", %v" : "  %v", walk.value);
    }
    mcpx_text_puts(out, any ? "\n" : "  (may say nothing)\n");
}

static int print(const struct arguments *arguments, const struct connection *where,
                 const struct mcpx_text *answer)
{
    bool json = arguments_have(arguments, "--json"), colour = colour_for(arguments);
    struct mcpx_slice value, list;
    struct mcpx_json_walk walk;
    struct mcpx_text out = {0};

    if (mcpx_json_check(mcpx_text_view(answer), 0, &value, NULL) != MCPX_OK)
        return fail_with(STATUS_FAILED, "who", "the answer of %s is not JSON", where->api);
    list = mcpx_json_get(value, "participants");
    mcpx_json_walk_start(&walk, list);
    while (mcpx_json_walk_next(&walk)) {
        if (json) {
            text_compact(&out, walk.value);
            mcpx_text_puts(&out, "\n");
        } else {
            add_participant(&out, walk.value, colour);
        }
    }
    if (mcpx_json_get(value, "next").text)
        complain("who", "there are more participants; these are the first of them, by id");
    return output_print_list(arguments, where, &out, "nobody is connected");
}

int cmd_who(const struct arguments *arguments)
{
    struct mcpx_text answer = {0};
    struct connection where;
    int status = connection_read(arguments, &where);

    if (status == STATUS_OK)
        status = fetch_about_topic(&where, "who", "/participants", &answer);
    if (status == STATUS_OK)
        status = print(arguments, &where, &answer);
    mcpx_text_fini(&answer);
    connection_fini(&where);
    return status;
}
