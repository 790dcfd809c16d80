/*
 * cmd_reload.c - the difference of two configurations, for people: gains and losses of
 * participants, after a reload of the router or in a comparison offline. The router's own functions
 * find the difference. Settings that require a restart are listed offline only.
 *
 * One table has the layout of each member of a row. A loss has a minus: a removed grant or a new
 * denial.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/json/json_write.h"
#include "router/policy/config/config.h"
#include "router/policy/identity/tokens.h"
#include "tools/common/visible.h"

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

static void tell_row(struct mcpx_text *out, struct mcpx_slice row)
{
    const char *of = mcpx_json_get(row, "participant").text ? "participant" : "profile";

    text_format(out, "%v: %s %v\n", mcpx_json_get(row, "change"), of, mcpx_json_get(row, of));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        MCPX_JSON_EACH(walk, mcpx_json_get(row, lists[i].member))
            text_format(out, "%s%v\n", lists[i].before, walk.value);
    text_member(out, "  token: %v\n", row, "token");
    text_member(out, "  routing: %v\n", row, "routing");
    text_member(out, "  instances: %v\n", row, "instances");
    text_member(out, "  jwt: %v\n", row, "jwt");
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

/*
 * Appends an object of difference_write_answer for people: sums, then a line for each participant
 * and profile with its gains (+) and losses (-) below, then settings and warnings. The lines of a
 * member `restart`, if any, are settings too.
 */
static void difference_tell(struct mcpx_text *out, struct mcpx_slice answer)
{
    struct mcpx_slice sums = mcpx_json_get(answer, "participants");
    struct mcpx_slice left_out = mcpx_json_get(answer, "left_out");

    text_format(out, "policy %v, was %v\n", mcpx_json_get(answer, "rev"),
                mcpx_json_get(answer, "was"));
    text_format(out, "participants: %v added, %v removed, %v changed\n",
                mcpx_json_get(sums, "added"), mcpx_json_get(sums, "removed"),
                mcpx_json_get(sums, "changed"));
    MCPX_JSON_EACH(walk, mcpx_json_get(answer, "changes"))
        tell_row(out, walk.value);
    if (!mcpx_slice_equal(left_out, MCPX_SLICE("0")))
        text_format(out, "and %v more\n", left_out);
    MCPX_JSON_EACH(walk, mcpx_json_get(answer, "settings"))
        tell_setting(out, walk.value);
    MCPX_JSON_EACH(walk, mcpx_json_get(answer, "restart"))
        text_format(out, "setting %v\n", walk.value);
    MCPX_JSON_EACH(walk, mcpx_json_get(answer, "warnings"))
        text_format(out, "warning: %v\n", walk.value);
}

/* ---- two configurations ---- */

int policy_compare(const struct config *before, const struct config *after, bool json)
{
    mx_scoped_text restart = {0}, settings = {0}, rows = {0}, answer = {0}, out = {0};
    MX_SCOPED(difference_fini) struct difference difference = {.count = 0};
    struct difference_answer told = {.rev = after->rev, .was = before->rev};
    bool differs;

    memory_checked(difference_find(before->tokens, after->tokens, &difference));
    config_compare(before, after, &restart, &settings);
    differs = difference.count > 0 || restart.len > 0 ||
              !mcpx_slice_equal(mcpx_text_view(&settings), MCPX_SLICE("[]"));
    mx_json_begin_object(&answer, NULL);
    told.difference = &difference;
    told.shown = difference_write(&difference, SIZE_MAX, &rows);
    told.rows = mcpx_text_view(&rows);
    told.settings = mcpx_text_view(&settings);
    difference_write_answer(&told, &answer);
    difference_write_lines("restart", mcpx_text_view(&restart), &answer);
    mx_json_end_object(&answer);
    if (json)
        mcpx_text_puts(&answer, "\n");
    else
        difference_tell(&out, mcpx_text_view(&answer));
    return output_print(json ? &answer : &out, differs ? STATUS_FAILED : STATUS_OK);
}

/* ---- the verb reload ---- */

static int cmd_reload(const struct arguments *arguments)
{
    MX_SCOPED(connection_fini) struct connection where = {0};

    must(connection_read(arguments, CONNECTION_ANYWHERE, 0, &where));
    return output_answer(arguments, &where,
                         (struct http_call){.path = "/admin/reload", .body = "{}"},
                         difference_tell);
}

const struct command reload_verbs[] = {
    {"reload", NULL, 0, 0, false, "have the router read its configuration again",
     "Prints who gains and loses what. All of the configuration comes into force, or nothing: "
     "a fault, or a setting that takes a restart, is named and changes nothing. The token "
     "needs a grant for admin/reload. Exits 0 when the configuration is in force, 2 when it "
     "has a fault, 3 without the grant, 5 when the router cannot be reached or refuses the "
     "token.",
     ONE_OBJECT_OPTIONS, connect_options, cmd_reload, "administer"},
    {.name = NULL},
};
