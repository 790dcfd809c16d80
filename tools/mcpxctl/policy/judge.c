/*
 * judge.c - each message is decided about twice: under the old configuration and under the new one.
 * Comparing what the router has decided with the new configuration was refused: a difference could
 * then as well come from a configuration that was in force in between.
 */
#include "tools/mcpxctl/policy/judge.h"

#include "lib/core/json_write.h"
#include "lib/core/room.h"
#include "router/policy/tokens.h"
#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/output.h"
#include <mcpx/envelope.h>
#include <mcpx/json.h>

#include <stdlib.h>

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

/* Takes the texts. False when memory is short. */
static bool add_group(struct comparison *comparison, uint64_t hash,
                      struct difference_group *group)
{
    struct difference_group *grown = mx_room(comparison->groups, comparison->group_count,
                                             &comparison->room, sizeof *comparison->groups);

    if (grown)
        comparison->groups = grown;
    if (!grown || group->example.failed || !mx_map_reserve(&comparison->known)) {
        mcpx_text_fini(&group->text);
        mcpx_text_fini(&group->example);
        return false;
    }
    comparison->bytes += sizeof *group + group->text.len + group->example.len;
    comparison->groups[comparison->group_count] = *group;
    mx_map_put(&comparison->known, hash, ++comparison->group_count);
    return true;
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
    if (made.text.failed) {
        comparison->failed = true;
    } else if (known) {
        known->count++;
    } else if (comparison->bytes > GROUP_BYTES_MAX) {
        comparison->unlisted++;
    } else {
        if (message->seq)
            mx_format(&made.example, "\"seq\":%s", message->seq);
        else
            mx_format(&made.example, "\"id\":%q", message->id);
        comparison->failed |= !add_group(comparison, hash, &made);
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
    struct mcpx_json_walk walk;
    const char *before = " to ";

    out->failed |= whole.failed;
    if (whole.failed)
        return;
    text_format(out, "%s: %v  %v",
                mcpx_json_equals(now, MCPX_SLICE("allowed")) ? "allowed now" : "refused now",
                mcpx_json_get(object, "participant"), mcpx_json_get(object, "kind"));
    mcpx_json_walk_start(&walk, mcpx_json_get(object, "to"));
    while (mcpx_json_walk_next(&walk)) {
        text_format(out, "%s%v", before, walk.value);
        before = ", ";
    }
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

int comparison_tell(const struct comparison *comparison, const char *verb, bool json)
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
    return output_print(&out, verb, comparison->different > 0 ? STATUS_FAILED : STATUS_OK);
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
