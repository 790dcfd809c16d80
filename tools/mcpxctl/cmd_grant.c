/*
 * cmd_grant.c - changes what a participant may send while the router runs, and removes
 * participants. The router decides and says what becomes of it; a preview is its answer, too,
 * because only it knows who is connected and what was changed before. Protocol: section 8.
 */
#include "tools/mcpxctl/verbs.h"

#include "lib/core/format.h"
#include "lib/core/json_write.h"
#include "lib/core/percent.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/changes_text.h"
#include "tools/mcpxctl/fetch.h"
#include "tools/mcpxctl/output.h"
#include <mcpx/json.h>

#define PREVIEW_ROW                                                                           \
    {                                                                                         \
        "--dry-run", NULL, VALUE_NONE, 0, "only say what would change"                        \
    }
#define JSON_ROW                                                                              \
    {                                                                                         \
        "--json", NULL, VALUE_NONE, 0, "print the answer of the router"                       \
    }

const struct option_row grant_options[] = {
    {"--to", "ID", VALUE_PARTICIPANT, OPTION_REPEATED,
     "the only addressees it is for; else everyone"},
    {"--until", "TIME", VALUE_TEXT, 0,
     "when it ends: a date like 2026-12-31T23:59:59Z, or how long from now, like 3600, 90m, "
     "1h or 2d; else as late as the router permits"},
    PREVIEW_ROW,
    JSON_ROW,
    {.name = NULL},
};

const struct option_row revoke_options[] = {
    {"--until", "TIME", VALUE_TEXT, 0,
     "when it may be sent again: a date, or how long from now, like 3600 or 1h; else not "
     "while the router runs"},
    PREVIEW_ROW,
    JSON_ROW,
    {.name = NULL},
};

const struct option_row kick_options[] = {
    {"--for", "S", VALUE_SECONDS, 0,
     "keep it out of the topic for so long, like 600, 10m or 1d; 0 lets it in again"},
    {"--everywhere", NULL, VALUE_NONE, 0, "in all topics that the token is good for"},
    PREVIEW_ROW,
    JSON_ROW,
    {.name = NULL},
};

/* ---- what is asked ---- */

static void write_path(struct mcpx_text *path, const struct arguments *arguments)
{
    mcpx_text_puts(path, "/admin/participants/");
    mx_percent_add(path, mcpx_slice_of(arguments->operands[0]));
}

/* What is no duration is a date: the router says what it does not understand. */
static void write_until(struct mcpx_text *body, const char *until)
{
    int64_t ms;

    if (duration_read(until, &ms))
        mx_json_add_number(body, "until", (ms + 999) / 1000);
    else
        mcpx_json_add_member(body, "until", mcpx_slice_of(until));
}

static void write_grant(struct mcpx_text *body, const struct arguments *arguments,
                        const char *pattern)
{
    const struct option_word *word;
    size_t at = 0;

    if (!arguments_have(arguments, "--to")) {
        mx_json_add_item(body, mcpx_slice_of(pattern));
        return;
    }
    mx_json_begin_object(body, NULL);
    mcpx_json_add_member(body, "kind", mcpx_slice_of(pattern));
    mx_json_begin_array(body, "to");
    while ((word = arguments_next(arguments, "--to", &at)) != NULL)
        mx_json_add_item(body, mcpx_slice_of(word->value));
    mx_json_end_array(body);
    mx_json_end_object(body);
}

static void write_body(struct mcpx_text *body, const struct arguments *arguments,
                       const struct connection *where, const char *list)
{
    mx_json_begin_object(body, NULL);
    mcpx_json_add_member(body, "topic", mcpx_slice_of(where->client.topic));
    mx_json_begin_array(body, list);
    for (size_t i = 1; i < arguments->operand_count; i++)
        write_grant(body, arguments, arguments->operands[i]);
    mx_json_end_array(body);
    if (arguments_have(arguments, "--until"))
        write_until(body, arguments_value(arguments, "--until"));
    mx_json_end_object(body);
}

/* ---- what is answered ---- */

static void show_change(struct mcpx_text *out, struct mcpx_slice answer)
{
    struct mcpx_slice connections = mcpx_json_get(answer, "connections");
    struct mcpx_json_walk warnings;

    list_tell(out, "before  ", mcpx_json_get(answer, "oldCapabilities"));
    list_tell(out, "now     ", mcpx_json_get(answer, "newCapabilities"));
    list_tell(out, "denied  ", mcpx_json_get(answer, "denied"));
    changes_tell(out, "  ", mcpx_json_get(answer, "changes"));
    mcpx_json_walk_start(&warnings, mcpx_json_get(answer, "warnings"));
    while (mcpx_json_walk_next(&warnings))
        text_format(out, "warning: %v\n", warnings.value);
    if (mcpx_slice_equal(mcpx_json_get(answer, "known"), MCPX_SLICE("false")))
        mcpx_text_puts(out, "nobody is configured or connected there under this id\n");
    if (connections.text)
        text_format(out, "connections that have it now: %v\n", connections);
    else
        mcpx_text_puts(out, "a preview: nothing was changed\n");
}

static void show_kick(struct mcpx_text *out, struct mcpx_slice answer)
{
    struct mcpx_slice until = mcpx_json_get(answer, "barredUntil");
    bool preview = mcpx_slice_equal(mcpx_json_get(answer, "dryRun"), MCPX_SLICE("true"));

    text_format(out, preview ? "connections that would end: %v\n" : "connections ended: %v\n",
                mcpx_json_get(answer, "connections"));
    if (until.text)
        text_format(out, "kept out until %v\n", until);
    if (preview)
        mcpx_text_puts(out, "a preview: nothing was changed\n");
}

/* ---- the verbs ---- */

static int change(const struct arguments *arguments, const char *verb, const char *list)
{
    struct mcpx_text path = {0}, body = {0}, answer = {0};
    struct connection where;
    int status = connection_read(arguments, &where);

    if (status == STATUS_OK) {
        write_path(&path, arguments);
        mcpx_text_puts(&path, "/capabilities");
        if (arguments_have(arguments, "--dry-run"))
            mcpx_text_puts(&path, "?dry_run=1");
        write_body(&body, arguments, &where, list);
        status = path.failed || body.failed
                     ? complain_of_memory(verb)
                     : fetch_answer(&where, verb, path.text, body.text, &answer);
    }
    if (status == STATUS_OK)
        status = output_answer(arguments, &answer, show_change);
    mcpx_text_fini(&answer);
    mcpx_text_fini(&body);
    mcpx_text_fini(&path);
    connection_fini(&where);
    return status;
}

int cmd_grant(const struct arguments *arguments)
{
    return change(arguments, "grant", "add");
}

int cmd_revoke(const struct arguments *arguments)
{
    return change(arguments, "revoke", "remove");
}

static void write_query(struct mcpx_text *path, const struct arguments *arguments,
                        const struct connection *where)
{
    mcpx_text_puts(path, arguments_have(arguments, "--dry-run") ? "?dry_run=1" : "?dry_run=0");
    if (!arguments_have(arguments, "--everywhere")) {
        mcpx_text_puts(path, "&topic=");
        mx_percent_add(path, mcpx_slice_of(where->client.topic));
    }
    if (arguments_have(arguments, "--for"))
        mx_format(path, "&for=%s", (arguments_ms(arguments, "--for", 0) + 999) / 1000);
}

int cmd_kick(const struct arguments *arguments)
{
    struct mcpx_text path = {0}, answer = {0};
    struct connection where;
    int status;

    if (arguments_have(arguments, "--everywhere") && arguments_have(arguments, "--for"))
        return fail_with(STATUS_USAGE, "kick",
                         "--for keeps out of one topic: give it without --everywhere");
    status = connection_read(arguments, &where);
    if (status == STATUS_OK) {
        write_path(&path, arguments);
        write_query(&path, arguments, &where);
        status = path.failed ? complain_of_memory("kick")
                             : fetch_delete(&where, "kick", path.text, &answer);
    }
    if (status == STATUS_OK)
        status = output_answer(arguments, &answer, show_kick);
    mcpx_text_fini(&answer);
    mcpx_text_fini(&path);
    connection_fini(&where);
    return status;
}
