/*
 * cmd_policy.c - what would have been decided under another configuration? Each recorded decision
 * about a message is made again, twice: under the old configuration and under the new one, at the
 * instant at which it was made. Comparing the record itself with the new configuration was refused:
 * a difference could then as well come from a configuration that was in force in between.
 */
#include "tools/mcpxctl/verbs.h"

#include "lib/core/json_write.h"
#include "lib/core/map.h"
#include "lib/core/room.h"
#include "router/policy/tokens.h"
#include "router/store/edge/audit_reader.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/audit/pick.h"
#include "tools/mcpxctl/load.h"
#include "tools/mcpxctl/output.h"
#include "tools/mcpxctl/policy/policy.h"
#include <mcpx/envelope.h>
#include <mcpx/json.h>

#include <errno.h>
#include <stdlib.h>

static const char verb[] = "policy";
static const struct mx_map_key hash_key = {{3, 4}};

/* A configuration, and grants of it by participant: `grant` NULL = not configured. */
struct side {
    struct config config;
    struct mx_map names;
    struct holder {
        struct mcpx_text name;
        struct grant *grant;
    } * holders;
    size_t count, room;
};

/* Decisions that differ in the same way, with their number. */
struct group {
    struct mcpx_text text; /* a JSON object, but for its end */
    uint64_t count, first_seq;
};

enum { OLD, NEW };

struct comparison {
    struct side sides[2];
    struct mx_map known; /* of groups, by their text; value: place + 1 */
    struct group *groups;
    size_t count, room;
    uint64_t judged, different, unjudged, otherwise;
    bool failed;
};

/* What one line asks. */
struct question {
    struct mcpx_text from, topic, kind_text;
    struct mcpx_text names; /* of addressees, one behind the other */
    struct mcpx_slice to[MCPX_TO_MAX];
    size_t to_count;
    struct mcpx_kind kind;
    int64_t wall_ms;
};

/* ---- deciding ---- */

static struct holder *find_holder(struct side *side, struct mcpx_slice name)
{
    uint64_t hash = mx_map_hash(hash_key, name), value;
    size_t at = 0;

    while ((value = mx_map_next(&side->names, hash, &at)) != 0)
        if (mcpx_slice_equal(mcpx_text_view(&side->holders[value - 1].name), name))
            return &side->holders[value - 1];
    return NULL;
}

static struct holder *make_holder(struct side *side, struct mcpx_slice name)
{
    struct holder *grown =
        mx_room(side->holders, side->count, &side->room, sizeof *side->holders);
    struct holder *made;
    enum mcpx_err err;

    if (!grown)
        return NULL;
    side->holders = grown;
    made = &grown[side->count];
    *made = (struct holder){.grant = NULL};
    mcpx_text_slice(&made->name, name);
    err = tokens_participant(side->config.tokens, name, &made->grant);
    if (made->name.failed || err == MCPX_ENOMEM || !mx_map_reserve(&side->names)) {
        grant_unref(made->grant);
        mcpx_text_fini(&made->name);
        return NULL;
    }
    mx_map_put(&side->names, mx_map_hash(hash_key, name), ++side->count);
    return made;
}

/* What a side decides, as a wire name; NULL when the participant is not configured there. */
static const char *decide(struct comparison *comparison, struct side *side,
                          const struct question *question)
{
    struct mcpx_slice name = mcpx_identity_of(mcpx_text_view(&question->from));
    struct mcpx_question asked = {&question->kind, question->to, question->to_count,
                                  question->wall_ms};
    struct mcpx_decision decision;
    struct holder *holder = find_holder(side, name);

    if (!holder)
        holder = make_holder(side, name);
    comparison->failed |= !holder;
    if (!holder || !holder->grant)
        return NULL;
    if (!tokens_topic_pattern(side->config.tokens, name, mcpx_text_view(&question->topic))
             .text)
        return mcpx_error_wire(MCPX_EFORBIDDEN);
    mcpx_capset_explain(holder->grant->capset, &asked, &decision);
    return mcpx_refusal_wire(decision.refusal);
}

/* ---- reading what was decided ---- */

static void read_addressees(struct question *question, struct mcpx_slice to)
{
    size_t ends[MCPX_TO_MAX], begin = 0;
    struct mcpx_json_walk walk;

    question->to_count = 0;
    mcpx_json_walk_start(&walk, to);
    while (question->to_count < MCPX_TO_MAX && mcpx_json_walk_next(&walk)) {
        mcpx_json_add_unescaped(&question->names, walk.value);
        ends[question->to_count++] = question->names.len;
    }
    for (size_t i = 0; i < question->to_count; i++) {
        question->to[i] = (struct mcpx_slice){question->names.text + begin, ends[i] - begin};
        begin = ends[i];
    }
}

/* False for a line that is no decision about a message by grants. */
static bool read_question(struct question *question, const struct audit_line *line)
{
    bool refused = line->what == AUDIT_REFUSE &&
                   mcpx_json_equals(mcpx_json_get(line->whole, "error"),
                                    mcpx_slice_of(mcpx_error_wire(MCPX_ECAPABILITY)));

    if (line->what != AUDIT_ALLOW && !refused)
        return false;
    mcpx_text_reset(&question->from);
    mcpx_text_reset(&question->topic);
    mcpx_text_reset(&question->kind_text);
    mcpx_text_reset(&question->names);
    pick_text(&question->from, line, "from");
    pick_text(&question->topic, line, "topic");
    pick_text(&question->kind_text, line, "kind");
    if (question->kind_text.len == 0)
        pick_text(&question->kind_text, line, "kind_sent");
    read_addressees(question, mcpx_json_get(line->whole, "to"));
    question->wall_ms = line->wall_ms;
    return mcpx_kind_parse(mcpx_text_view(&question->kind_text), &question->kind, NULL) ==
           MCPX_OK;
}

static void free_question(struct question *question)
{
    mcpx_text_fini(&question->from);
    mcpx_text_fini(&question->topic);
    mcpx_text_fini(&question->kind_text);
    mcpx_text_fini(&question->names);
}

/* ---- counting differences ---- */

static struct group *find_group(struct comparison *comparison, struct mcpx_text *text)
{
    uint64_t hash = mx_map_hash(hash_key, mcpx_text_view(text)), value;
    struct group *grown;
    size_t at = 0;

    while ((value = mx_map_next(&comparison->known, hash, &at)) != 0)
        if (mcpx_slice_equal(mcpx_text_view(&comparison->groups[value - 1].text),
                             mcpx_text_view(text)))
            return &comparison->groups[value - 1];
    grown = mx_room(comparison->groups, comparison->count, &comparison->room,
                    sizeof *comparison->groups);
    if (!grown)
        return NULL;
    comparison->groups = grown;
    if (!mx_map_reserve(&comparison->known))
        return NULL;
    grown[comparison->count] = (struct group){.text = *text};
    *text = (struct mcpx_text){0};
    mx_map_put(&comparison->known, hash, ++comparison->count);
    return &grown[comparison->count - 1];
}

static void count_difference(struct comparison *comparison, const struct question *question,
                             const struct audit_line *line, const char *const words[2])
{
    struct mcpx_text text = {0};
    struct group *group;

    mx_format(&text, "{\"was\":%q,\"now\":%q,\"participant\":%q,\"topic\":%q,\"kind\":%q",
              words[OLD], words[NEW], &question->from, &question->topic, &question->kind_text);
    mx_json_add_strings(&text, "to", question->to, question->to_count);
    group = text.failed ? NULL : find_group(comparison, &text);
    mcpx_text_fini(&text);
    comparison->failed |= !group;
    if (!group)
        return;
    if (group->count++ == 0)
        group->first_seq = line->seq;
    comparison->different++;
}

static bool is_allowed(const char *word)
{
    return strcmp(word, mcpx_refusal_wire(MCPX_ALLOWED)) == 0;
}

static void compare_line(struct comparison *comparison, struct question *question,
                         const struct audit_line *line)
{
    const char *words[2];

    if (!read_question(question, line))
        return;
    for (int i = OLD; i <= NEW; i++)
        words[i] = decide(comparison, &comparison->sides[i], question);
    if (!words[OLD] && !words[NEW]) {
        comparison->unjudged++;
        return;
    }
    for (int i = OLD; i <= NEW; i++)
        words[i] = words[i] ? words[i] : "not_configured";
    comparison->judged++;
    comparison->otherwise += is_allowed(words[OLD]) != (line->what == AUDIT_ALLOW);
    if (is_allowed(words[OLD]) != is_allowed(words[NEW]))
        count_difference(comparison, question, line, words);
}

/* ---- telling ---- */

static struct mcpx_slice member(struct mcpx_slice object, const char *name)
{
    return mcpx_json_get(object, name);
}

static void tell_group(struct mcpx_text *out, const struct group *group)
{
    struct mcpx_text whole = mx_formatted("%s}", &group->text);
    struct mcpx_slice object = mcpx_text_view(&whole);
    struct mcpx_json_walk walk;
    const char *before = " to ";

    out->failed |= whole.failed;
    if (whole.failed)
        return;
    text_format(out, "%s: %v  %v",
                mcpx_json_equals(member(object, "now"), MCPX_SLICE("allowed")) ? "allowed now"
                                                                               : "refused now",
                member(object, "participant"), member(object, "kind"));
    mcpx_json_walk_start(&walk, member(object, "to"));
    while (mcpx_json_walk_next(&walk)) {
        text_format(out, "%s%v", before, walk.value);
        before = ", ";
    }
    text_format(out, " in %v\n  was  %v\n  now  %v\n", member(object, "topic"),
                member(object, "was"), member(object, "now"));
    text_format(out, "  %s time%s, first in line %s\n", group->count,
                group->count == 1 ? "" : "s", group->first_seq);
    mcpx_text_fini(&whole);
}

static void tell_sums(struct mcpx_text *out, const struct comparison *comparison)
{
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

static int tell(const struct comparison *comparison, bool json)
{
    struct mcpx_text out = {0};

    for (size_t i = 0; i < comparison->count; i++) {
        const struct group *group = &comparison->groups[i];

        if (json)
            mx_format(&out, "%s,\"count\":%s,\"seq\":%s}\n", &group->text, group->count,
                      group->first_seq);
        else
            tell_group(&out, group);
    }
    if (json)
        mx_format(&out, "{\"judged\":%s,\"different\":%s,\"unjudged\":%s,\"otherwise\":%s}\n",
                  comparison->judged, comparison->different, comparison->unjudged,
                  comparison->otherwise);
    else
        tell_sums(&out, comparison);
    return output_print(&out, verb, comparison->different > 0 ? STATUS_FAILED : STATUS_OK);
}

/* ---- the verb ---- */

static int compare_folder(struct comparison *comparison, const char *folder)
{
    static struct question question; /* too large for a stack */
    struct audit_reader reader;
    struct audit_row row;
    struct audit_line line;
    enum mcpx_err err = audit_reader_open(folder, &reader);
    int error = errno, status = STATUS_OK;

    while (!err && !comparison->failed && audit_reader_next(&reader, &row))
        if (audit_line_read(row.text, &line))
            compare_line(comparison, &question, &line);
    if (comparison->failed || err == MCPX_ENOMEM)
        status = complain_of_memory(verb);
    else if (err == MCPX_ENOTFOUND)
        status = fail_with(STATUS_USAGE, verb, "there is no audit-N.jsonl in --audit");
    else if (err || reader.error)
        status =
            fail_with(STATUS_USAGE, verb, "--audit: %s", strerror(err ? error : reader.error));
    free_question(&question);
    audit_reader_close(&reader);
    return status;
}

static void free_comparison(struct comparison *comparison)
{
    for (int i = OLD; i <= NEW; i++) {
        struct side *side = &comparison->sides[i];

        for (size_t at = 0; at < side->count; at++) {
            grant_unref(side->holders[at].grant);
            mcpx_text_fini(&side->holders[at].name);
        }
        free(side->holders);
        mx_map_fini(&side->names);
        config_fini(&side->config);
    }
    for (size_t i = 0; i < comparison->count; i++)
        mcpx_text_fini(&comparison->groups[i].text);
    free(comparison->groups);
    mx_map_fini(&comparison->known);
}

const struct option_row policy_options[] = {
    {"--audit", "FOLDER", VALUE_FILE, OPTION_REPEATED,
     "diff: compare the decisions that are recorded there, not the configurations"},
    {"--json", NULL, VALUE_NONE, 0,
     "print one JSON object, or of diff --audit one for each difference, then one with sums"},
    {.name = NULL},
};

static int diff(const struct arguments *arguments)
{
    struct comparison comparison = {.count = 0};
    const struct option_word *word;
    bool json = arguments_have(arguments, "--json");
    size_t at = 0;
    int status = STATUS_OK;

    if (arguments->operand_count != 3)
        return fail_with(STATUS_USAGE, verb, "diff wants two configurations, OLD and NEW");
    for (int i = OLD; i <= NEW && status == STATUS_OK; i++)
        status = load_config(verb, arguments->operands[1 + i], &comparison.sides[i].config);
    if (status == STATUS_OK && !arguments_have(arguments, "--audit")) {
        status =
            policy_compare(&comparison.sides[OLD].config, &comparison.sides[NEW].config, json);
        goto out;
    }
    while (status == STATUS_OK && (word = arguments_next(arguments, "--audit", &at)) != NULL)
        status = compare_folder(&comparison, word->value);
    if (status == STATUS_OK)
        status = tell(&comparison, json);
out:
    free_comparison(&comparison);
    return status;
}

int cmd_policy(const struct arguments *arguments)
{
    const char *word = arguments->operands[0];

    if (strcmp(word, "diff") == 0)
        return diff(arguments);
    if (strcmp(word, "show") != 0)
        return fail_with(STATUS_USAGE, verb, "the first word is show or diff");
    if (arguments->operand_count > 1 || arguments_have(arguments, "--audit"))
        return fail_with(STATUS_USAGE, verb,
                         "show asks the running router, and takes no file and no --audit");
    return policy_show(arguments);
}
