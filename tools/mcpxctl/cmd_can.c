/*
 * cmd_can.c - tells if a participant may send something. It asks the configuration, or the running
 * router, which knows more than its file. Protocol: section 8.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/edge/timer.h"
#include "lib/json/json_write.h"
#include "router/policy/config/config.h"
#include "router/policy/identity/tokens.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/line.h"
#include <mcpx/capability.h>
#include <mcpx/json.h>

/* The question. All of it is borrowed from the command line. */
struct inquiry {
    const char *file;              /* of the configuration; NULL = none was named */
    struct mcpx_slice participant; /* absent = the participant that asks */
    /* The question is about tokens with this profile; absent = about a participant. */
    struct mcpx_slice profile;
    struct mcpx_slice topic; /* absent = none was named */
    struct mcpx_kind kind;
    struct address address;
};

/* ---- the question, and its answer ---- */

static void inquiry_read(const struct arguments *arguments, struct inquiry *out)
{
    struct mcpx_fault fault = {"", "", 0};

    out->file = arguments_value(arguments, "--config");
    out->participant = mcpx_slice_of(arguments_value(arguments, "--participant"));
    out->profile = mcpx_slice_of(arguments_value(arguments, "--profile"));
    out->topic = mcpx_slice_of(arguments_value(arguments, "--topic"));
    if (!kind_word_read(arguments->operands[0], &out->kind, &fault))
        end_with(STATUS_USAGE, "not a valid kind: %s, byte %zu: %s", fault.field, fault.offset,
                 fault.reason);
    if (out->topic.text)
        must(connection_check_topic(out->topic.text));
    must(address_read(arguments, &out->address));
}

static const char *const sentences[] = {
    [MCPX_NO_MATCHING_GRANT] = "no grant covers this kind",
    [MCPX_DENIED] = "a denial covers this kind",
    [MCPX_GRANT_EXPIRED] = "the grant that covers this kind has expired",
    [MCPX_TARGET_NOT_ALLOWED] = "the grant that covers this kind is for other addressees",
    [MCPX_RESERVED_NAMESPACE] = "only the router may send this type",
};

static bool is_word(struct mcpx_slice decision, const char *member, const char *word)
{
    return mcpx_json_equals(mcpx_json_get(decision, member), mcpx_slice_of(word));
}

/* The reason of a refusal by grants, else NULL, even if the participant may not join the topic. */
static const char *sentence_of(struct mcpx_slice decision)
{
    for (int i = MCPX_NO_MATCHING_GRANT; i <= MCPX_RESERVED_NAMESPACE; i++)
        if (is_word(decision, "reason", mcpx_refusal_wire((enum mcpx_refusal)i)))
            return sentences[i];
    return NULL;
}

static const char *entrance_sentence(const struct inquiry *inquiry, struct mcpx_slice decision)
{
    if (is_word(decision, "topic_reason", mcpx_error_wire(MCPX_ENOTOPIC)))
        return "topics.create is false, so the topic cannot be created";
    return inquiry->topic.text ? "the participant's topics do not include this topic"
                               : "the participant has no topics";
}

static bool is_allowed(struct mcpx_slice decision)
{
    return mcpx_slice_equal(mcpx_json_get(decision, "allowed"), MCPX_SLICE("true"));
}

/* Writes the decision, participant, kind, addressees and topic. */
static void write_headline(const struct inquiry *inquiry, bool allowed, bool has_topic,
                           struct mcpx_text *out)
{
    bool profile = inquiry->profile.text;

    mx_format(out, "%s: %s%s %s %s to ", allowed ? "allowed" : "refused",
              profile                     ? "a participant with the profile "
              : inquiry->participant.text ? ""
                                          : "this participant",
              profile ? inquiry->profile : inquiry->participant,
              allowed ? "may send" : "may not send", inquiry->kind.text);
    addressees_write(out, inquiry->address.to, inquiry->address.count);
    if (has_topic)
        mx_format(out, " in %s", inquiry->topic);
    mcpx_text_puts(out, "\n");
}

static void write_for_people(const struct inquiry *inquiry, struct mcpx_slice decision,
                             struct mcpx_text *out)
{
    bool has_topic = mcpx_json_get(decision, "topic").text;
    bool has_entrance = mcpx_json_get(decision, "topic_reason").text;
    const char *sentence = sentence_of(decision);

    write_headline(inquiry, is_allowed(decision), has_topic, out);
    if (has_entrance && !is_word(decision, "topic_reason", mcpx_refusal_wire(MCPX_ALLOWED)))
        mx_format(out, "  reason       %s\n", entrance_sentence(inquiry, decision));
    if (sentence)
        mx_format(out, "  reason       %s\n", sentence);
    if (has_topic)
        text_member(out, "  topic        %v\n", decision, "topic_pattern");
    text_member(out,
                sentence == sentences[MCPX_DENIED] ? "  denial       %v\n"
                                                   : "  grant        %v\n",
                decision, "grant");
    if (!sentence)
        return;
    text_member(out, "  nearest      %v\n", decision, "nearest");
    text_member(out, "  would allow  %v\n", decision, "would_allow");
    text_member(out, "  alternative  %v\n", decision, "alternative");
}

/*
 * Prints the decision: the object that --json shows. Returns STATUS_OK when the participant may
 * enter the topic and may send this there; STATUS_REFUSED otherwise.
 */
static int inquiry_answer(const struct inquiry *inquiry, const struct mcpx_text *decision,
                          bool json)
{
    struct mcpx_slice object = mcpx_text_view(decision);
    struct mcpx_text out = {0};

    if (json) {
        text_compact(&out, object);
        mcpx_text_puts(&out, "\n");
    } else {
        write_for_people(inquiry, object, &out);
    }
    return output_print(&out, is_allowed(object) ? STATUS_OK : STATUS_REFUSED);
}

/* ---- asking the router ---- */

static void write_question(struct mcpx_text *out, const struct inquiry *inquiry)
{
    mx_format(out, "{\"kind\":%q", inquiry->kind.text);
    mx_json_add_optional(out, "participant", inquiry->participant);
    mx_json_add_optional(out, "topic", inquiry->topic);
    if (inquiry->address.count > 0)
        mx_json_add_strings(out, "to", inquiry->address.to, inquiry->address.count);
    mx_json_end_object(out);
}

/* Shows the decision `now`: it includes changes at run time. The router sends another answer when
 * the participant may not join the topic. */
static int show(const struct inquiry *inquiry, struct mcpx_slice answer, bool json)
{
    mx_scoped_text topic = {0}, decision = {0};
    struct mcpx_slice now = mcpx_json_get(answer, "now");
    struct mcpx_json_change added[] = {{"topic", {NULL, 0}},
                                       {"topic_reason", MCPX_SLICE("\"allowed\"")}};

    if (!mcpx_json_get(now, "reason").text)
        return fail_with(STATUS_FAILED, "the router's answer is not a decision");
    mcpx_json_add_string(&topic, inquiry->topic);
    added[0].value = mcpx_text_view(&topic);
    mcpx_json_add_changed(&decision, now, added, 2);
    return inquiry_answer(inquiry, &decision, json);
}

static int can_live(const struct arguments *arguments, struct inquiry *inquiry)
{
    mx_scoped_text question = {0}, answer = {0};
    MX_SCOPED(connection_fini) struct connection where = {0};
    struct mcpx_slice value;

    must(connection_read(arguments, 0, 0, &where));
    inquiry->topic = mcpx_slice_of(where.client.topic);
    write_question(&question, inquiry);
    must(connection_call(&where,
                         (struct http_call){.path = "/v0.1/check", .body = question.text},
                         &answer, &value));
    return show(inquiry, value, arguments_have(arguments, "--json"));
}

/* ---- asking the configuration ---- */

/* The router's answer to a joining participant: MCPX_OK, or the reason of a refusal. */
static enum mcpx_err judge_topic(const struct config *config, struct mcpx_slice pattern)
{
    if (!pattern.text)
        return MCPX_EFORBIDDEN;
    return config->hub.create ? MCPX_OK : MCPX_ENOTOPIC;
}

static const char *wire_of(enum mcpx_err entrance)
{
    return entrance ? mcpx_error_wire(entrance) : mcpx_refusal_wire(MCPX_ALLOWED);
}

/* A token with a profile names its topics itself. */
static int answer(const struct config *config, const struct tokens_entry *entry,
                  const struct inquiry *inquiry, bool json)
{
    bool has_entrance = !inquiry->profile.text;
    struct mcpx_slice pattern = tokens_topic_pattern(entry, inquiry->topic);
    enum mcpx_err entrance = has_entrance ? judge_topic(config, pattern) : MCPX_OK;
    struct mcpx_question question = {&inquiry->kind, inquiry->address.to,
                                     inquiry->address.count, mx_clock_now().wall_ms};
    struct mcpx_decision decision;
    mx_scoped_text out = {0};
    bool may_send;

    mcpx_capset_explain(entry->grant->capset, &question, &decision);
    may_send = decision.refusal == MCPX_ALLOWED;
    mx_format(&out, "{\"allowed\":%s,\"reason\":%q", (bool)(may_send && !entrance),
              may_send ? wire_of(entrance) : mcpx_refusal_wire(decision.refusal));
    mx_json_add_optional(&out, "grant", decision.grant);
    mx_json_add_optional(&out, "nearest", decision.nearest);
    mx_json_add_optional(&out, "would_allow", decision.would_allow);
    mx_json_add_optional(&out, "alternative", decision.alternative);
    if (has_entrance && (inquiry->topic.text || entrance)) {
        mx_json_add_optional(&out, "topic", inquiry->topic);
        mcpx_json_add_member(&out, "topic_reason", mcpx_slice_of(wire_of(entrance)));
        mx_json_add_optional(&out, "topic_pattern", pattern);
    }
    mx_json_end_object(&out);
    return inquiry_answer(inquiry, &out, json);
}

static int can_offline(const struct inquiry *inquiry, bool json)
{
    MX_SCOPED(config_fini) struct config config = {0};
    const struct tokens_entry *entry;

    load_config(inquiry->file, &config);
    entry = inquiry->profile.text ? tokens_find_profile(config.tokens, inquiry->profile)
                                  : tokens_find_id(config.tokens, inquiry->participant);
    if (entry)
        return answer(&config, entry, inquiry, json);
    return fail_with(STATUS_USAGE, "%s has no %s of that name: %s", inquiry->file,
                     inquiry->profile.text ? "profile" : "participant",
                     inquiry->profile.text ? inquiry->profile.text
                                           : inquiry->participant.text);
}

static int cmd_can(const struct arguments *arguments)
{
    static struct inquiry inquiry;
    bool live = arguments_have(arguments, "--live") || arguments_have(arguments, "--url");

    inquiry_read(arguments, &inquiry);
    if (live && (inquiry.file || inquiry.profile.text))
        return fail_with(STATUS_USAGE,
                         "--config and --profile ask a file and --url or --live the router: "
                         "give one of them");
    if (live)
        return can_live(arguments, &inquiry);
    if (!inquiry.participant.text)
        inquiry.participant = mcpx_slice_of(arguments_value(arguments, "--as"));
    if (!inquiry.file || !(inquiry.participant.text || inquiry.profile.text))
        return fail_with(STATUS_USAGE, "%s is required",
                         inquiry.file ? "--as ID or --profile NAME"
                                      : "--config FILE (or --live, or --url URL)");
    return can_offline(&inquiry, arguments_have(arguments, "--json"));
}

const struct command can_verbs[] = {
    {"can", "KIND", 1, 1, false, "may a participant send a kind, and why?",
     "With --config decides offline, from the configuration alone, exactly as the router "
     "would now: may the participant enter the topic of --topic, without which any topic will "
     "do, and may it send the kind there? With --live or --url asks the running router about "
     "the token's own participant, or another, as things are in the topic now, with what was "
     "granted and revoked there. Exits 0 when the participant may, 3 when it may not.",
     OPTIONS(
         OPTION("--config", "FILE", VALUE_FILE, 0,
                "decide offline, from the router's configuration; --as names the participant"),
         OPTION("--profile", "NAME", VALUE_TEXT, 0,
                "offline: who has a JWT with this profile"),
         SWITCH("--live", "ask the running router, as --url does"),
         OPTION("--participant", "ID", VALUE_PARTICIPANT, 0,
                "ask the router about somebody else; needs a grant for admin/check"),
         OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REPEATED,
                "an addressee; without it the envelope is for everyone"),
         JSON_OPTION("print one JSON object, as POST /v0.1/check answers")),
     connect_options, cmd_can, "administer"},
    {.name = NULL},
};
