/*
 * policy.c - what two configurations differ in, for people: who gains and loses what, when the
 * router has read its own again and when two are compared offline; and what they decide about
 * messages. The functions that tell the difference are the router's own; what would take a restart
 * is only named offline.
 *
 * One table says how each member of a row is shown. What takes something away from somebody has a
 * minus, be it a grant that is gone or a denial that came.
 *
 * Each message is decided about twice: under the old configuration and under the new one. Comparing
 * what the router has decided with the new configuration was refused: a difference could then as
 * well come from a configuration that was in force in between.
 */
#include "tools/mcpxctl/policy.h"

#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "lib/json/walk.h"
#include "router/policy/identity/tokens.h"
#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/fetch.h"
#include "tools/mcpxctl/core/verbs.h"
#include <mcpx/envelope.h>
#include <mcpx/text.h>

#include <stdlib.h>

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

    if (!name.text) {
        kind = "profile";
        name = mcpx_json_get(row, "profile");
    }
    text_format(out, "%v: %s %v\n", mcpx_json_get(row, "change"), kind, name);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        MX_JSON_EACH(walk, mcpx_json_get(row, lists[i].member))
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
    MX_JSON_EACH(walk, rows)
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

/*
 * Appends what difference_write_answer has written, in an object: sums, then a line for each
 * participant and profile, below it one for each thing that was gained (+) or lost (-), then
 * settings and warnings. The lines of a member `restart`, if any, are settings too.
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
    tell_rows(out, mcpx_json_get(answer, "changes"));
    if (!mcpx_slice_equal(left_out, MCPX_SLICE("0")))
        text_format(out, "and %v more\n", left_out);
    MX_JSON_EACH(walk, mcpx_json_get(answer, "settings"))
        tell_setting(out, walk.value);
    MX_JSON_EACH(walk, mcpx_json_get(answer, "restart"))
        text_format(out, "setting %v\n", walk.value);
    MX_JSON_EACH(walk, mcpx_json_get(answer, "warnings"))
        text_format(out, "warning: %v\n", walk.value);
}

/* ---- two configurations ---- */

static int print(struct mcpx_text *answer, bool json, bool differs)
{
    int status = differs ? STATUS_FAILED : STATUS_OK;
    struct mcpx_text out = {0};

    if (json)
        mcpx_text_puts(answer, "\n");
    else
        difference_tell(&out, mcpx_text_view(answer));
    return output_print(json ? answer : &out, status);
}

int policy_compare(const struct config *before, const struct config *after, bool json)
{
    struct mcpx_text restart = {0}, settings = {0}, rows = {0}, answer = {0};
    struct difference difference = {.count = 0};
    struct difference_answer told = {.rev = after->rev, .was = before->rev};
    bool differs;
    int status;

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
    status = print(&answer, json, differs);
    difference_fini(&difference);
    mcpx_text_fini(&answer);
    mcpx_text_fini(&rows);
    mcpx_text_fini(&settings);
    mcpx_text_fini(&restart);
    return status;
}

/* ---- the verb reload ---- */

int cmd_reload(const struct arguments *arguments)
{
    struct mcpx_text answer = {0};
    struct connection where;
    int status = connection_read_anywhere(arguments, &where);

    if (status == STATUS_OK)
        status = fetch_answer(&where, "reload", "/admin/reload", "{}", &answer);
    if (status == STATUS_OK)
        status = output_answer(arguments, &answer, difference_tell);
    mcpx_text_fini(&answer);
    connection_fini(&where);
    return status;
}

/* ---- what they decide about what was said ---- */

/* Memory that differences may take: who sends what is judged chooses how many there are. */
enum { GROUP_BYTES_MAX = 16 << 20 };

static const struct mx_map_key hash_key = {{3, 4}};

/* `text`: a JSON object, but for its end; `example`: one more member of it. */
struct difference_group {
    struct mcpx_text text, example;
    uint64_t count;
};

/* ---- deciding ---- */

/* As a wire name; NULL when the participant is not configured. */
static const char *decide(struct tokens *tokens, const struct past_message *message)
{
    struct mcpx_slice name = mcpx_identity_of(message->from);
    struct mcpx_question asked = {&message->kind, message->to, message->to_count,
                                  message->wall_ms};
    struct mcpx_decision decision;
    struct grant *grant = NULL;
    const char *word = mcpx_error_wire(MCPX_EFORBIDDEN);

    if (tokens_participant(tokens, name, &grant))
        return NULL;
    if (tokens_topic_pattern(tokens, name, message->topic).text) {
        mcpx_capset_explain(grant->capset, &asked, &decision);
        word = mcpx_refusal_wire(decision.refusal);
    }
    grant_unref(grant);
    return word;
}

static bool is_allowed(const char *word)
{
    return strcmp(word, mcpx_refusal_wire(MCPX_ALLOWED)) == 0;
}

/* ---- counting differences ---- */

static struct difference_group *known_group(const struct comparison *comparison, uint64_t hash,
                                            struct mcpx_slice text)
{
    uint64_t value;
    size_t at = 0;

    while ((value = mx_map_next(&comparison->known, hash, &at)) != 0)
        if (mcpx_slice_equal(mcpx_text_view(&comparison->groups[value - 1].text), text))
            return &comparison->groups[value - 1];
    return NULL;
}

/* Takes the texts. */
static void add_group(struct comparison *comparison, uint64_t hash,
                      struct difference_group *group)
{
    comparison->groups = mx_room(comparison->groups, comparison->group_count,
                                 &comparison->room, sizeof *comparison->groups);
    mx_map_reserve(&comparison->known);
    comparison->bytes += sizeof *group + group->text.len + group->example.len;
    comparison->groups[comparison->group_count] = *group;
    mx_map_put(&comparison->known, hash, ++comparison->group_count);
}

static void count_difference(struct comparison *comparison, const struct past_message *message,
                             const char *const words[2])
{
    struct difference_group made = {.count = 1}, *known;
    uint64_t hash;

    comparison->different++;
    mx_format(&made.text, "{\"was\":%q,\"now\":%q,\"participant\":%q,\"topic\":%q,\"kind\":%q",
              words[OLD], words[NEW], message->from, message->topic, message->kind.text);
    mx_json_add_strings(&made.text, "to", message->to, message->to_count);
    hash = mx_map_hash(hash_key, mcpx_text_view(&made.text));
    known = known_group(comparison, hash, mcpx_text_view(&made.text));
    if (known) {
        known->count++;
    } else if (comparison->bytes > GROUP_BYTES_MAX) {
        comparison->unlisted++;
    } else {
        if (message->seq)
            mx_format(&made.example, "\"seq\":%s", message->seq);
        else
            mx_format(&made.example, "\"id\":%q", message->id);
        add_group(comparison, hash, &made);
        return;
    }
    mcpx_text_fini(&made.text);
}

void comparison_judge(struct comparison *comparison, const struct past_message *message)
{
    const char *words[2];

    for (int i = OLD; i <= NEW; i++)
        words[i] = decide(comparison->configs[i].tokens, message);
    if (!words[OLD] && !words[NEW]) {
        comparison->unjudged++;
        return;
    }
    for (int i = OLD; i <= NEW; i++)
        words[i] = words[i] ? words[i] : "not_configured";
    comparison->judged++;
    comparison->otherwise += is_allowed(words[OLD]) != message->allowed;
    if (is_allowed(words[OLD]) != is_allowed(words[NEW]))
        count_difference(comparison, message, words);
}

/* ---- telling ---- */

static void tell_example(struct mcpx_text *out, uint64_t count, struct mcpx_slice object)
{
    struct mcpx_slice seq = mcpx_json_get(object, "seq");

    mx_format(out, "  %s time%s, ", count, count == 1 ? "" : "s");
    if (seq.text)
        text_format(out, "first in line %v\n", seq);
    else
        text_format(out, "last in %v\n", mcpx_json_get(object, "id"));
}

static void tell_group(struct mcpx_text *out, const struct difference_group *group)
{
    struct mcpx_text whole = mx_formatted("%s,%s}", &group->text, &group->example);
    struct mcpx_slice object = mcpx_text_view(&whole);
    struct mcpx_slice now = mcpx_json_get(object, "now");

    text_format(out, "%s: %v  %v",
                mcpx_json_equals(now, MCPX_SLICE("allowed")) ? "allowed now" : "refused now",
                mcpx_json_get(object, "participant"), mcpx_json_get(object, "kind"));
    text_list(out, " to ", mcpx_json_get(object, "to"), NULL);
    text_format(out, " in %v\n  was  %v\n  now  %v\n", mcpx_json_get(object, "topic"),
                mcpx_json_get(object, "was"), now);
    tell_example(out, group->count, object);
    mcpx_text_fini(&whole);
}

static void tell_sums(struct mcpx_text *out, const struct comparison *comparison)
{
    if (comparison->unlisted > 0)
        mx_format(out, "%s more would be different and are not listed: there are too many\n",
                  comparison->unlisted);
    mx_format(out, "%s of %s decisions would be different\n", comparison->different,
              comparison->judged);
    if (comparison->unjudged > 0)
        mx_format(out,
                  "%s more are by participants of neither configuration, and not judged\n",
                  comparison->unjudged);
    if (comparison->otherwise > 0)
        mx_format(out, "%s were recorded otherwise than the old configuration decides\n",
                  comparison->otherwise);
}

static void write_sums(struct mcpx_text *out, const struct comparison *comparison)
{
    mx_format(out, "{\"judged\":%s,\"different\":%s,\"unjudged\":%s,\"otherwise\":%s",
              comparison->judged, comparison->different, comparison->unjudged,
              comparison->otherwise);
    if (comparison->unlisted > 0)
        mx_format(out, ",\"unlisted\":%s", comparison->unlisted);
    mcpx_text_puts(out, "}\n");
}

int comparison_tell(const struct comparison *comparison, bool json)
{
    struct mcpx_text out = {0};

    for (size_t i = 0; i < comparison->group_count; i++) {
        const struct difference_group *group = &comparison->groups[i];

        if (json)
            mx_format(&out, "%s,\"count\":%s,%s}\n", &group->text, group->count,
                      &group->example);
        else
            tell_group(&out, group);
    }
    if (json)
        write_sums(&out, comparison);
    else
        tell_sums(&out, comparison);
    return output_print(&out, comparison->different > 0 ? STATUS_FAILED : STATUS_OK);
}

void comparison_fini(struct comparison *comparison)
{
    for (int i = OLD; i <= NEW; i++)
        config_fini(&comparison->configs[i]);
    for (size_t i = 0; i < comparison->group_count; i++) {
        mcpx_text_fini(&comparison->groups[i].text);
        mcpx_text_fini(&comparison->groups[i].example);
    }
    free(comparison->groups);
    mx_map_fini(&comparison->known);
}
