/*
 * cmd_grant.c - permissions in the running router: changed for a while, and shown.
 *
 * The router decides about a change. A preview is its answer, too, because only the router knows
 * the connections and earlier changes. Protocol: section 8.
 *
 * The pages of participants have the configuration's entry beside the changes at run time, so both
 * are of one instant. Two pages with a reload between them belong to two policies: then nothing is
 * printed.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/base/digits.h"
#include "lib/base/ident.h"
#include "lib/json/json_write.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/fetch.h"
#include <mcpx/text.h>

/* ---- grants and changes for people ---- */

/* Appends an array of strings and objects as one line behind `title`; nothing when it is empty. */
static void list_tell(struct mcpx_text *out, const char *title, struct mcpx_slice list)
{
    if (text_list(out, title, list, NULL))
        mcpx_text_puts(out, "\n");
}

/* Appends an array of changes, a line for each: change, kind, end and administrator. */
static void changes_tell(struct mcpx_text *out, const char *indent, struct mcpx_slice list)
{
    MCPX_JSON_EACH(walk, list) {
        text_format(out, "%s%v", indent, mcpx_json_get(walk.value, "change"));
        text_member(out, " %v", walk.value, "kind");
        text_member(out, "  until %v", walk.value, "until");
        text_format(out, "  by %v\n", mcpx_json_get(walk.value, "by"));
    }
}

/* ---- grant, revoke, kick: the request ---- */

static void write_path(struct mcpx_text *path, const struct arguments *arguments)
{
    mcpx_text_puts(path, "/admin/participants/");
    mx_percent_add(path, mcpx_slice_of(arguments->operands[0]));
}

/* Checked here, because a complaint of the router has the forms of its API. */
static void write_until(struct mcpx_text *body, const char *until)
{
    int64_t ms;

    if (duration_read(until, &ms))
        mx_json_add_number(body, "until", (ms + 999) / 1000);
    else if (mx_time_parse(mcpx_slice_of(until), &ms))
        mcpx_json_add_member(body, "until", mcpx_slice_of(until));
    else
        end_with(STATUS_USAGE, "--until needs a date like 2026-12-31T23:59:59Z, or how "
                               "long from now, like 3600, 90m, 1h or 2d");
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

/* All but the topic, which is known only behind the token. */
static void write_body(struct mcpx_text *body, const struct arguments *arguments,
                       const char *list)
{
    mx_json_begin_object(body, NULL);
    mx_json_begin_array(body, list);
    for (size_t i = 1; i < arguments->operand_count; i++)
        write_grant(body, arguments, arguments->operands[i]);
    mx_json_end_array(body);
    if (arguments_have(arguments, "--until"))
        write_until(body, arguments_value(arguments, "--until"));
}

/* ---- the answer ---- */

static void show_change(struct mcpx_text *out, struct mcpx_slice answer)
{
    list_tell(out, "before  ", mcpx_json_get(answer, "oldCapabilities"));
    list_tell(out, "now     ", mcpx_json_get(answer, "newCapabilities"));
    list_tell(out, "denied  ", mcpx_json_get(answer, "denied"));
    changes_tell(out, "  ", mcpx_json_get(answer, "changes"));
    MCPX_JSON_EACH(warnings, mcpx_json_get(answer, "warnings"))
        text_format(out, "warning: %v\n", warnings.value);
    if (mcpx_slice_equal(mcpx_json_get(answer, "known"), MCPX_SLICE("false")))
        mcpx_text_puts(out, "no participant with this id is configured or connected there\n");
    text_member(out, "connections that have it now: %v\n", answer, "connections");
    if (!mcpx_json_get(answer, "connections").text)
        mcpx_text_puts(out, "a preview: nothing was changed\n");
}

static void show_kick(struct mcpx_text *out, struct mcpx_slice answer)
{
    bool preview = mcpx_slice_equal(mcpx_json_get(answer, "dryRun"), MCPX_SLICE("true"));

    text_format(out, preview ? "connections that would end: %v\n" : "connections ended: %v\n",
                mcpx_json_get(answer, "connections"));
    text_member(out, "banned until %v\n", answer, "barredUntil");
    if (preview)
        mcpx_text_puts(out, "a preview: nothing was changed\n");
}

/* ---- the verbs ---- */

/* The verbs grant and revoke. */
static int cmd_change(const struct arguments *arguments)
{
    bool grants = strcmp(arguments->command->name, "grant") == 0;
    mx_scoped_text path = {0}, body = {0};
    MX_SCOPED(connection_fini) struct connection where = {0};

    write_body(&body, arguments, grants ? "add" : "remove");
    must(connection_read(arguments, 0, 0, &where));
    mcpx_json_add_member(&body, "topic", mcpx_slice_of(where.client.topic));
    mx_json_end_object(&body);
    write_path(&path, arguments);
    mcpx_text_puts(&path, "/capabilities");
    if (arguments_have(arguments, "--dry-run"))
        mcpx_text_puts(&path, "?dry_run=1");
    return output_answer(arguments, &where,
                         (struct http_call){.path = path.text, .body = body.text},
                         show_change);
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

static int cmd_kick(const struct arguments *arguments)
{
    mx_scoped_text path = {0};
    MX_SCOPED(connection_fini) struct connection where = {0};

    if (arguments_have(arguments, "--everywhere") && arguments_have(arguments, "--for"))
        return fail_with(STATUS_USAGE,
                         "--for keeps out of one topic: give it without --everywhere");
    must(connection_read(arguments, 0, 0, &where));
    write_path(&path, arguments);
    write_query(&path, arguments, &where);
    return output_answer(arguments, &where,
                         (struct http_call){.path = path.text, .method = "DELETE"}, show_kick);
}

/* ---- policy show ---- */

static void tell_set(struct mcpx_text *out, struct mcpx_slice set)
{
    list_tell(out, "  topics  ", mcpx_json_get(set, "topics"));
    list_tell(out, "  grants  ", mcpx_json_get(set, "grants"));
    list_tell(out, "  denied  ", mcpx_json_get(set, "deny"));
}

static void tell_participant(struct mcpx_text *out, struct mcpx_slice row)
{
    struct mcpx_slice configured = mcpx_json_get(row, "configured");
    struct mcpx_slice connected = mcpx_json_get(row, "connected");

    text_format(out, "participant %v", mcpx_json_get(row, "id"));
    if (!configured.text)
        mcpx_text_puts(out, ", not in the configuration");
    if (connected.text && !mcpx_slice_equal(connected, MCPX_SLICE("0")))
        text_format(out, ", connections: %v", connected);
    mcpx_text_puts(out, "\n");
    tell_set(out, configured);
    if (mcpx_slice_equal(mcpx_json_get(configured, "jwt"), MCPX_SLICE("true")))
        mcpx_text_puts(out, "  signed tokens are accepted\n");
    MCPX_JSON_EACH(walk, mcpx_json_get(row, "changed")) {
        text_format(out, "  changed at run time in %v\n", mcpx_json_get(walk.value, "topic"));
        changes_tell(out, "    ", mcpx_json_get(walk.value, "changes"));
    }
    text_member(out, "  and in %v topics more\n", row, "left_out");
}

/* `shown` is the object that --json prints. */
static void tell_policy(struct mcpx_text *out, struct mcpx_slice shown)
{
    text_format(out, "policy %v\n", mcpx_json_get(shown, "rev"));
    MCPX_JSON_EACH(profiles, mcpx_json_get(shown, "profiles")) {
        text_format(out, "profile %v\n", mcpx_json_get(profiles.value, "name"));
        tell_set(out, profiles.value);
    }
    MCPX_JSON_EACH(participants, mcpx_json_get(shown, "participants"))
        tell_participant(out, participants.value);
}

/* ---- asking ---- */

static struct mcpx_slice ask_policy(const struct connection *where, struct mcpx_text *answer)
{
    struct mcpx_slice policy;

    must(connection_call(where, (struct http_call){.path = "/admin/policy?limit=1"}, answer,
                         &policy));
    return policy;
}

/* Appends the rows of all pages to an array. */
static void add_participants(const struct connection *where, struct mcpx_text *out)
{
    MX_SCOPED(pages_fini) struct pages pages = {.count = 0};
    mx_scoped_text after = {0}; /* the next page begins behind this name, if any */

    do {
        mx_scoped_text path = {0}, answer = {0};
        const char *endless = NULL;
        struct mcpx_slice page;

        mcpx_text_puts(&path, "/admin/participants");
        if (after.len > 0) {
            mcpx_text_puts(&path, "?after=");
            mx_percent_add(&path, mcpx_text_view(&after));
        }
        must(connection_call(where, (struct http_call){.path = path.text}, &answer, &page));
        MCPX_JSON_EACH(walk, mcpx_json_get(page, "participants"))
            mx_json_add_raw(out, NULL, walk.value);
        mcpx_text_reset(&after);
        mcpx_json_add_unescaped(&after, mcpx_json_get(page, "next"));
        if (after.len > 0)
            endless = pages_follow(&pages, answer.len, mcpx_text_view(&after));
        if (endless)
            end_with(STATUS_FAILED, "%s: the participants cannot be read: %s", where->api,
                     endless);
    } while (after.len > 0);
}

int policy_show(const struct arguments *arguments)
{
    mx_scoped_text first = {0}, last = {0}, shown = {0}, out = {0};
    MX_SCOPED(connection_fini) struct connection where = {0};
    struct mcpx_slice policy, now;

    must(connection_read(arguments, CONNECTION_ANYWHERE, 0, &where));
    policy = ask_policy(&where, &first);
    mx_format(&shown, "{\"rev\":%s,\"profiles\":%s,\"participants\":[",
              mcpx_json_get(policy, "rev"), mcpx_json_get(policy, "profiles"));
    add_participants(&where, &shown);
    mcpx_text_puts(&shown, "]}");
    /* The first policy must still be active. */
    now = ask_policy(&where, &last);
    if (!mcpx_slice_equal(mcpx_json_get(policy, "rev"), mcpx_json_get(now, "rev")))
        return fail_with(STATUS_FAILED,
                         "the router has read another configuration meanwhile; ask again");
    if (arguments_have(arguments, "--json"))
        mx_format(&out, "%s\n", &shown);
    else
        tell_policy(&out, mcpx_text_view(&shown));
    return output_print(&out, STATUS_OK);
}

#define PREVIEW_OPTION SWITCH("--dry-run", "only say what would change")

const struct command grant_verbs[] = {
    {"grant", "PARTICIPANT PATTERN...", 2, WORDS_MAX, false,
     "let a participant send more, for a while",
     "Gives the participant the patterns in this topic, with all its instances, in force for "
     "its very next message, and prints what it may send then. What was revoked comes back "
     "when just that is granted, without --to and --until. Needs a grant for admin/grant, and "
     "whatever is given. Ends with the router; the configuration alone is for good.",
     OPTIONS(OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REPEATED,
                    "the only addressees it is for; else everyone"),
             OPTION("--until", "TIME", VALUE_TEXT, 0,
                    "when it ends: a date like 2026-12-31T23:59:59Z, or how long from now, "
                    "like 3600, 90m, 1h or 2d; else as late as the router permits"),
             PREVIEW_OPTION, JSON_OPTION("print the answer of the router")),
     connect_options, cmd_change, "administer"},
    {"kick", "PARTICIPANT", 1, 1, false, "remove a participant",
     "Ends the connections of the participant to this topic, those of all its instances. It "
     "may come back, as its token is as good as before, unless --for keeps it out. Needs a "
     "grant for admin/kick.",
     OPTIONS(
         OPTION(
             "--for", "S", VALUE_SECONDS, 0,
             "keep it out of the topic for so long, like 600, 10m or 1d; 0 lets it in again"),
         SWITCH("--everywhere", "in all topics that the token is good for"), PREVIEW_OPTION,
         JSON_OPTION("print the answer of the router")),
     connect_options, cmd_kick, "administer"},
    {"revoke", "PARTICIPANT PATTERN...", 2, WORDS_MAX, false,
     "take from a participant what it may send",
     "Takes the patterns away from the participant in this topic, whoever has given them, in "
     "force for its very next message, and prints what it may send then. Needs a grant for "
     "admin/grant.",
     OPTIONS(OPTION("--until", "TIME", VALUE_TEXT, 0,
                    "when it may be sent again: a date, or how long from now, like 3600 or "
                    "1h; else not while the router runs"),
             PREVIEW_OPTION, JSON_OPTION("print the answer of the router")),
     connect_options, cmd_change, "administer"},
    {.name = NULL},
};
