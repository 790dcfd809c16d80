/*
 * cmd_policy.c - current permissions, and the effect of another configuration: on participants, or
 * on messages that a router has decided about. Messages of an audit are decided about at the
 * instant of their line. Messages in the history of a topic have only the time of their sender, so
 * they are treated as if they were sent now.
 *
 * Each message is decided about twice: under the old configuration and under the new one. Rejected:
 * comparing the router's decision with the new configuration. A difference could then come from a
 * configuration that was active in between.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/base/arena.h"
#include "lib/base/map.h"
#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "router/policy/config/config.h"
#include "router/policy/identity/tokens.h"
#include "router/store/audit/audit_verify.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/audit/audit.h"
#include "tools/mcpxctl/core/fetch.h"
#include "tools/mcpxctl/core/live.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum { HISTORY_MS = 300000 };

enum { OLD, NEW };

/*
 * A message with the decision of a router.
 *
 * from      sender, with its instance
 */
struct past_message {
    struct mcpx_slice from, topic;
    struct mcpx_kind kind;
    const struct mcpx_slice *to; /* addressees; none = everyone */
    size_t to_count;
    int64_t wall_ms;      /* the instant for the decision */
    bool allowed;         /* the router's decision */
    uint64_t seq;         /* its line in the audit; 0 = it comes from a topic's history */
    struct mcpx_slice id; /* of its envelope there */
};

/*
 * Messages with the same difference. `text`: a JSON object without its end; `example`: one more
 * member of it.
 */
struct difference_group {
    struct mcpx_text text, example;
    uint64_t count;
};

/*
 * Two configurations, and counts of the messages so far.
 *
 * judged        messages with two decisions
 * different     those of them with different decisions
 * unjudged      messages of participants of neither configuration
 * otherwise     messages that the router decided otherwise than the old configuration
 * unlisted      different messages outside of all groups, because the groups are full
 */
struct comparison {
    struct config configs[2];
    uint64_t judged, different, unjudged, otherwise, unlisted;
    /* `known`: groups by their texts; `bytes`: memory of the groups. */
    struct mx_map known;
    size_t bytes;
    struct difference_group *groups;
    size_t group_count, room;
};

/* Limit of the memory for groups, because senders choose how many there are. */
enum { GROUP_BYTES_MAX = 16 << 20 };

static const struct mx_map_key hash_key = {{3, 4}};

/* ---- deciding ---- */

/* Returns a wire name; NULL when the participant is not configured. */
static const char *decide(struct tokens *tokens, const struct past_message *message)
{
    struct mcpx_slice name = mcpx_identity_of(message->from);
    struct mcpx_question asked = {&message->kind, message->to, message->to_count,
                                  message->wall_ms};
    struct mcpx_decision decision;
    const struct tokens_entry *entry = tokens_find_id(tokens, name);

    if (!entry)
        return NULL;
    if (!tokens_topic_pattern(entry, message->topic).text)
        return mcpx_error_wire(MCPX_EFORBIDDEN);
    mcpx_capset_explain(entry->grant->capset, &asked, &decision);
    return mcpx_refusal_wire(decision.refusal);
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

/* Owns the texts of `group`. */
static void add_group(struct comparison *comparison, uint64_t hash,
                      struct difference_group *group)
{
    mx_make_room(&comparison->groups, comparison->group_count, &comparison->room,
                 sizeof *comparison->groups);
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

/* Decides about a message under both configurations. */
static void comparison_judge(struct comparison *comparison, const struct past_message *message)
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

static void tell_group(struct mcpx_text *out, const struct difference_group *group)
{
    mx_scoped_text whole = mx_formatted("%s,%s}", &group->text, &group->example);
    struct mcpx_slice object = mcpx_text_view(&whole);
    struct mcpx_slice now = mcpx_json_get(object, "now"), seq = mcpx_json_get(object, "seq");

    text_format(out, "%s: %v  %v",
                mcpx_json_equals(now, MCPX_SLICE("allowed")) ? "allowed now" : "refused now",
                mcpx_json_get(object, "participant"), mcpx_json_get(object, "kind"));
    text_list(out, " to ", mcpx_json_get(object, "to"), NULL);
    text_format(out, " in %v\n  was  %v\n  now  %v\n", mcpx_json_get(object, "topic"),
                mcpx_json_get(object, "was"), now);
    mx_format(out, "  %s time%s, ", group->count, group->count == 1 ? "" : "s");
    text_format(out, seq.text ? "first in line %v\n" : "last in %v\n",
                seq.text ? seq : mcpx_json_get(object, "id"));
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

/* Prints the differences and the sums. Returns STATUS_FAILED when there is a difference. */
static int comparison_tell(const struct comparison *comparison, bool json)
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
    if (json) {
        mx_format(&out, "{\"judged\":%s,\"different\":%s,\"unjudged\":%s,\"otherwise\":%s",
                  comparison->judged, comparison->different, comparison->unjudged,
                  comparison->otherwise);
        if (comparison->unlisted > 0)
            mx_format(&out, ",\"unlisted\":%s", comparison->unlisted);
        mcpx_text_puts(&out, "}\n");
    } else {
        tell_sums(&out, comparison);
    }
    return output_print(&out, comparison->different > 0 ? STATUS_FAILED : STATUS_OK);
}

static void comparison_fini(struct comparison *comparison)
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

/* ---- from an audit ---- */

/* A string of a line, unescaped. */
static struct mcpx_slice keep(struct mx_arena *arena, struct mcpx_slice value)
{
    mx_scoped_text text = {0};

    mcpx_json_add_unescaped(&text, value);
    return mx_arena_copy(arena, mcpx_text_view(&text));
}

/* Returns false for a line other than a decision about a message by grants. */
static bool read_line(struct mx_arena *arena, const struct audit_line *line,
                      struct mcpx_slice to[MCPX_TO_MAX], struct past_message *out)
{
    bool refused = line->what == AUDIT_REFUSE &&
                   mcpx_json_equals(mcpx_json_get(line->whole, "error"),
                                    mcpx_slice_of(mcpx_error_wire(MCPX_ECAPABILITY)));

    if (line->what != AUDIT_ALLOW && !refused)
        return false;
    *out = (struct past_message){.from = keep(arena, mcpx_json_get(line->whole, "from")),
                                 .topic = keep(arena, mcpx_json_get(line->whole, "topic")),
                                 .to = to,
                                 .wall_ms = line->wall_ms,
                                 .allowed = !refused,
                                 .seq = line->seq};
    MCPX_JSON_EACH_WHILE(out->to_count < MCPX_TO_MAX, walk, mcpx_json_get(line->whole, "to"))
        to[out->to_count++] = keep(arena, walk.value);
    return mcpx_kind_parse(keep(arena, pick_kind(line)), &out->kind, NULL) == MCPX_OK;
}

static void compare_folder(struct comparison *comparison, const char *folder)
{
    MX_SCOPED(mx_arena_fini) struct mx_arena arena = {0};
    struct mx_arena_mark empty = mx_arena_mark(&arena);
    struct mcpx_slice to[MCPX_TO_MAX];
    struct past_message message;
    MX_SCOPED(audit_reader_close) struct audit_reader reader;
    struct audit_row row;
    struct audit_line line;
    enum mcpx_err err = audit_reader_open(folder, &reader);
    int error = errno;

    while (!err && audit_reader_next(&reader, &row)) {
        if (audit_line_read(row.text, &line) && read_line(&arena, &line, to, &message))
            comparison_judge(comparison, &message);
        mx_arena_release(&arena, empty);
    }
    if (memory_checked(err) == MCPX_ENOTFOUND)
        end_with(STATUS_USAGE, "there is no audit-N.jsonl in --audit");
    if (err || reader.error)
        end_with(STATUS_USAGE, "--audit: %s", strerror(err ? error : reader.error));
}

/* ---- from the history of a topic ---- */

struct retained {
    struct comparison *comparison;
    struct mcpx_slice topic;
    int64_t wall_ms;
};

static void judge_entry(void *context, struct entry *entry)
{
    const struct retained *retained = context;
    struct past_message message = {.from = entry->from,
                                   .topic = retained->topic,
                                   .kind = entry->kind,
                                   .to = entry->to,
                                   .to_count = entry->to_count,
                                   .wall_ms = retained->wall_ms,
                                   .allowed = true,
                                   .id = entry->id};

    comparison_judge(retained->comparison, &message);
    free(entry);
}

/* As must(), with STATUS_USAGE for a failure: it must not look like a difference. */
static void must_judge(int status)
{
    must(status == STATUS_FAILED ? STATUS_USAGE : status);
}

static void compare_history(struct comparison *comparison, const struct arguments *arguments)
{
    MX_SCOPED(connection_fini) struct connection where = {0};
    struct retained retained = {.comparison = comparison};
    struct fetch_order order = {
        .limit = SIZE_MAX, .any_size = true, .take = judge_entry, .context = &retained};

    must_judge(connection_read(arguments, 0, 0, &where));
    retained.topic = mcpx_slice_of(where.client.topic);
    retained.wall_ms = (int64_t)time(NULL) * 1000;
    order.deadline_ms = live_deadline(arguments_ms(arguments, "--timeout", HISTORY_MS));
    must_judge(fetch_each(&where, &order));
}

/* ---- the verb ---- */

static int diff(const struct arguments *arguments)
{
    MX_SCOPED(comparison_fini) struct comparison comparison = {.judged = 0};
    bool json = arguments_have(arguments, "--json");
    const struct option_word *word;
    size_t at = 0;

    if (arguments->operand_count != 3)
        return fail_with(STATUS_USAGE, "diff needs two configurations, OLD and NEW");
    if (arguments_have(arguments, "--history") && arguments_have(arguments, "--audit"))
        return fail_with(STATUS_USAGE, "diff takes --audit or --history, not both");
    for (int i = OLD; i <= NEW; i++)
        load_config(arguments->operands[1 + i], &comparison.configs[i]);
    if (arguments_have(arguments, "--history"))
        compare_history(&comparison, arguments);
    else if (!arguments_have(arguments, "--audit"))
        return policy_compare(&comparison.configs[OLD], &comparison.configs[NEW], json);
    while ((word = arguments_next(arguments, "--audit", &at)) != NULL)
        compare_folder(&comparison, word->value);
    return comparison_tell(&comparison, json);
}

static int cmd_policy(const struct arguments *arguments)
{
    if (arguments_have(arguments, "--timeout") && !arguments_have(arguments, "--history"))
        return fail_with(STATUS_USAGE, "--timeout is for --history");
    if (strcmp(arguments->operands[0], "diff") == 0)
        return diff(arguments);
    if (arguments->operand_count > 1 || arguments_have(arguments, "--audit") ||
        arguments_have(arguments, "--history"))
        return fail_with(STATUS_USAGE,
                         "show asks the running router, and takes no file, no --audit and no "
                         "--history");
    return policy_show(arguments);
}

const struct command policy_verbs[] = {
    {"policy", "show|diff [OLD] [NEW]", 1, 3, false, "who may do what, and what would change?",
     "show prints what the running router permits whom: its profiles and participants with "
     "their topics, grants and denials, and what was changed at run time, until when and by "
     "whom. It needs a grant for admin/read. diff prints who gains and loses what when the "
     "configuration in NEW takes the place of that in OLD, and which settings are different. "
     "With --audit it makes every recorded decision about a message again, under OLD and "
     "under NEW, at the instant it was made; with --history it decides about the messages of "
     "the topic that the running router retains, as if they were sent now. It prints those "
     "that would be different: allowed by one and refused by the other, because of a grant, a "
     "denial or a topic. Who is in neither configuration, such as the bearer of a signed "
     "token, is not judged. Exits 0 when it is shown or nothing is different, 1 when "
     "something is, 2 when a configuration, the audit or the history cannot be read, 124 when "
     "the history is not read in time.",
     OPTIONS(
         OPTION("--audit", "FOLDER", VALUE_FILE, OPTION_REPEATED,
                "diff: compare the decisions that are recorded there, not the configurations"),
         SWITCH("--history", "diff: compare what the messages that the router retains of the "
                             "topic would meet"),
         OPTION("--timeout", "S", VALUE_SECONDS, 0,
                "diff --history: how long it may take to read the history, 0 for ever; 300"),
         JSON_OPTION("print one JSON object, or of diff --audit and diff --history one for "
                     "each difference, then one with sums")),
     connect_options, cmd_policy, "administer"},
    {.name = NULL},
};
