/*
 * difference_text.c - one table says how each member of a row is shown. What takes something away
 * from somebody has a minus, be it a grant that is gone or a denial that came.
 */
#include "tools/mcpxctl/difference_text.h"

#include "tools/common/visible.h"
#include <mcpx/json.h>

static const struct {
    const char *member, *before;
} lists[] = {
    {"topics_added", "  + topic "},
    {"topics_removed", "  - topic "},
    {"grants_added", "  + "},
    {"grants_removed", "  - "},
    {"deny_removed", "  + not denied: "},
    {"deny_added", "  - denied: "},
};

static const char *const values[] = {"token", "routing", "instances", "jwt"};

static void tell_row(struct mcpx_text *out, struct mcpx_slice row)
{
    struct mcpx_slice name = mcpx_json_get(row, "participant");
    const char *kind = "participant";
    struct mcpx_json_walk walk;

    if (!name.text) {
        kind = "profile";
        name = mcpx_json_get(row, "profile");
    }
    text_format(out, "%v: %s %v\n", mcpx_json_get(row, "change"), kind, name);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        mcpx_json_walk_start(&walk, mcpx_json_get(row, lists[i].member));
        while (mcpx_json_walk_next(&walk))
            text_format(out, "%s%v\n", lists[i].before, walk.value);
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct mcpx_slice value = mcpx_json_get(row, values[i]);

        if (value.text)
            text_format(out, "  %s: %v\n", values[i], value);
    }
}

static void tell_rows(struct mcpx_text *out, struct mcpx_slice rows)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, rows);
    while (mcpx_json_walk_next(&walk))
        tell_row(out, walk.value);
}

static void tell_setting(struct mcpx_text *out, struct mcpx_slice row)
{
    struct mcpx_slice was = mcpx_json_get(row, "was");

    text_format(out, "setting %v", mcpx_json_get(row, "setting"));
    if (was.text)
        text_format(out, ": %v -> %v\n", was, mcpx_json_get(row, "now"));
    else
        mcpx_text_puts(out, " has changed\n");
}

void difference_tell(struct mcpx_text *out, struct mcpx_slice answer)
{
    struct mcpx_slice sums = mcpx_json_get(answer, "participants");
    struct mcpx_slice left_out = mcpx_json_get(answer, "left_out");
    struct mcpx_json_walk walk;

    text_format(out, "policy %v, was %v\n", mcpx_json_get(answer, "rev"),
                mcpx_json_get(answer, "was"));
    text_format(out, "participants: %v added, %v removed, %v changed\n",
                mcpx_json_get(sums, "added"), mcpx_json_get(sums, "removed"),
                mcpx_json_get(sums, "changed"));
    tell_rows(out, mcpx_json_get(answer, "changes"));
    if (!mcpx_slice_equal(left_out, MCPX_SLICE("0")))
        text_format(out, "and %v more\n", left_out);
    mcpx_json_walk_start(&walk, mcpx_json_get(answer, "settings"));
    while (mcpx_json_walk_next(&walk))
        tell_setting(out, walk.value);
    mcpx_json_walk_start(&walk, mcpx_json_get(answer, "restart"));
    while (mcpx_json_walk_next(&walk))
        text_format(out, "setting %v\n", walk.value);
}
