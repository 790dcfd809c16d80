/*
 * cmd_reload.c - has the router read its configuration again, and shows who gains and loses what.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/common/visible.h"
#include "tools/mcpxctl/difference_text.h"
#include "tools/mcpxctl/fetch.h"
#include "tools/mcpxctl/output.h"
#include <mcpx/json.h>

static const char verb[] = "reload";

static void tell_setting(struct mcpx_text *out, struct mcpx_slice row)
{
    struct mcpx_slice was = mcpx_json_get(row, "was");

    text_format(out, "setting %v", mcpx_json_get(row, "setting"));
    if (was.text)
        text_format(out, ": %v -> %v\n", was, mcpx_json_get(row, "now"));
    else
        mcpx_text_puts(out, " has changed\n");
}

static void tell(struct mcpx_text *out, struct mcpx_slice answer)
{
    struct mcpx_slice sums = mcpx_json_get(answer, "participants");
    struct mcpx_slice left_out = mcpx_json_get(answer, "left_out");
    struct mcpx_json_walk walk;

    text_format(out, "policy %v, was %v\n", mcpx_json_get(answer, "rev"),
                mcpx_json_get(answer, "was"));
    text_format(out, "participants: %v added, %v removed, %v changed\n",
                mcpx_json_get(sums, "added"), mcpx_json_get(sums, "removed"),
                mcpx_json_get(sums, "changed"));
    difference_tell(out, mcpx_json_get(answer, "changes"));
    if (!mcpx_slice_equal(left_out, MCPX_SLICE("0")))
        text_format(out, "and %v more\n", left_out);
    mcpx_json_walk_start(&walk, mcpx_json_get(answer, "settings"));
    while (mcpx_json_walk_next(&walk))
        tell_setting(out, walk.value);
}

int cmd_reload(const struct arguments *arguments)
{
    struct mcpx_text answer = {0};
    struct connection where;
    int status = connection_read_anywhere(arguments, &where);

    if (status == STATUS_OK)
        status = fetch_answer(&where, verb, "/admin/reload", "{}", &answer);
    if (status == STATUS_OK)
        status = output_answer(arguments, &answer, tell);
    mcpx_text_fini(&answer);
    connection_fini(&where);
    return status;
}
