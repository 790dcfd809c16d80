/*
 * cmd_can.c - whether a participant may send something: asked of the configuration, or of the
 * running router, which knows more than its file. Protocol: section 8.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/edge/alarm.h"
#include "lib/json/json_write.h"
#include "router/policy/config/config.h"
#include "router/policy/identity/tokens.h"
#include <mcpx/capability.h>
#include <mcpx/json.h>

/* The question. All of it is borrowed from the command line. */
struct inquiry {
    const char *file;              /* of the configuration; NULL = none was named */
    struct mcpx_slice participant; /* absent = the one that asks */
    /* It is about who has a token with this profile; absent = about a participant. */
    struct mcpx_slice profile;
    struct mcpx_slice topic; /* absent = none was named */
    struct mcpx_kind kind;
    struct address address;
};

/* Whether the participant may enter the topic, or any topic when none was named. */
struct entrance {
    /* MCPX_OK, or what the router would answer: MCPX_EFORBIDDEN, MCPX_ENOTOPIC. */
    enum mcpx_err err;
    /* The one of its topics that covers the topic; absent when none does. */
    struct mcpx_slice pattern;
};

/* ---- the question, and its answer ---- */

/* Reads it. Returns STATUS_OK or STATUS_USAGE, having complained. */
static int inquiry_read(const struct arguments *arguments, struct inquiry *out)
{
    struct mcpx_fault fault = {"", "", 0};

    out->file = arguments_value(arguments, "--config");
    out->participant = mcpx_slice_of(arguments_value(arguments, "--participant"));
    out->profile = mcpx_slice_of(arguments_value(arguments, "--profile"));
    out->topic = mcpx_slice_of(arguments_value(arguments, "--topic"));
    if (!kind_word_read(arguments->operands[0], &out->kind, &fault))
        return fail_with(STATUS_USAGE, "not a valid kind: %s, byte %zu: %s", fault.field,
                         fault.offset, fault.reason);
    if (out->topic.text && connection_check_topic(out->topic.text) != STATUS_OK)
        return STATUS_USAGE;
    return address_read(arguments, &out->address);
}

static void put_line(struct mcpx_text *out, const char *label, struct mcpx_slice text)
{
    if (text.text)
        mx_format(out, "%s%s\n", label, text);
}

static const char *const sentences[] = {
    [MCPX_ALLOWED] = "",
    [MCPX_NO_MATCHING_GRANT] = "no grant covers this kind",
    [MCPX_DENIED] = "a denial covers this kind",
    [MCPX_GRANT_EXPIRED] = "the grant that covers this kind has expired",
    [MCPX_TARGET_NOT_ALLOWED] = "the grant that covers this kind is for other addressees",
    [MCPX_RESERVED_NAMESPACE] = "only the router may send this type",
};

static bool is_allowed(const struct mcpx_decision *decision, const struct entrance *entrance)
{
    return decision->refusal == MCPX_ALLOWED && !(entrance && entrance->err);
}

static const char *entrance_sentence(const struct inquiry *inquiry, enum mcpx_err err)
{
    if (err == MCPX_ENOTOPIC)
        return "topics.create is false, so no topic comes to be";
    return inquiry->topic.text ? "none of its topics covers this one"
                               : "it has no topics, so it may enter none";
}

/* Who, what, to whom and where. */
static void write_headline(const struct inquiry *inquiry, bool allowed, bool has_topic,
                           struct mcpx_text *out)
{
    bool profile = inquiry->profile.text;

    mx_format(out, "%s: %s%s %s %s to ", allowed ? "allowed" : "refused",
              profile                     ? "who has the profile "
              : inquiry->participant.text ? ""
                                          : "this participant",
              profile ? inquiry->profile : inquiry->participant,
              allowed ? "may send" : "may not send", inquiry->kind.text);
    for (size_t i = 0; i < inquiry->address.count; i++)
        mx_format(out, "%s%s", i > 0 ? ", " : "", inquiry->address.to[i]);
    mcpx_text_puts(out, inquiry->address.count == 0 ? "everyone" : "");
    if (has_topic)
        mx_format(out, " in %s", inquiry->topic);
    mcpx_text_puts(out, "\n");
}

static void write_for_people(const struct inquiry *inquiry,
                             const struct mcpx_decision *decision,
                             const struct entrance *entrance, struct mcpx_text *out)
{
    bool has_topic = entrance && inquiry->topic.text;
    bool may_send = decision->refusal == MCPX_ALLOWED;

    write_headline(inquiry, is_allowed(decision, entrance), has_topic, out);
    if (entrance && entrance->err)
        put_line(out, "  reason       ",
                 mcpx_slice_of(entrance_sentence(inquiry, entrance->err)));
    if (!may_send)
        put_line(out, "  reason       ", mcpx_slice_of(sentences[decision->refusal]));
    if (has_topic)
        put_line(out, "  topic        ", entrance->pattern);
    put_line(out, decision->refusal == MCPX_DENIED ? "  denial       " : "  grant        ",
             decision->grant);
    if (may_send)
        return;
    put_line(out, "  nearest      ", decision->nearest);
    put_line(out, "  would allow  ", decision->would_allow);
    put_line(out, "  alternative  ", decision->alternative);
}

static const char *entrance_wire(const struct entrance *entrance)
{
    return entrance->err ? mcpx_error_wire(entrance->err) : mcpx_refusal_wire(MCPX_ALLOWED);
}

static void write_for_programs(const struct inquiry *inquiry,
                               const struct mcpx_decision *decision,
                               const struct entrance *entrance, struct mcpx_text *out)
{
    bool may_send = decision->refusal == MCPX_ALLOWED;

    mx_format(out, "{\"allowed\":%s", is_allowed(decision, entrance));
    mx_json_add_optional(out, "reason",
                         mcpx_slice_of(may_send && entrance
                                           ? entrance_wire(entrance)
                                           : mcpx_refusal_wire(decision->refusal)));
    mx_json_add_optional(out, "grant", decision->grant);
    mx_json_add_optional(out, "nearest", decision->nearest);
    mx_json_add_optional(out, "would_allow", decision->would_allow);
    mx_json_add_optional(out, "alternative", decision->alternative);
    if (entrance && (inquiry->topic.text || entrance->err)) {
        mx_json_add_optional(out, "topic", inquiry->topic);
        mx_json_add_optional(out, "topic_reason", mcpx_slice_of(entrance_wire(entrance)));
        mx_json_add_optional(out, "topic_pattern", entrance->pattern);
    }
    mcpx_text_puts(out, "}\n");
}

/*
 * Prints the decision. Returns STATUS_OK when the participant may enter the topic and may send
 * this there; STATUS_REFUSED otherwise.
 *
 * entrance   NULL = the topic was not checked
 */
static int inquiry_answer(const struct inquiry *inquiry, const struct mcpx_decision *decision,
                          const struct entrance *entrance, bool json)
{
    struct mcpx_text out = {0};

    if (json)
        write_for_programs(inquiry, decision, entrance, &out);
    else
        write_for_people(inquiry, decision, entrance, &out);
    return output_print(&out, is_allowed(decision, entrance) ? STATUS_OK : STATUS_REFUSED);
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

static bool read_refusal(struct mcpx_slice answer, enum mcpx_refusal *out)
{
    struct mcpx_slice reason = mcpx_json_get(answer, "reason");

    for (int i = MCPX_ALLOWED; i <= MCPX_RESERVED_NAMESPACE; i++) {
        if (!mcpx_json_equals(reason, mcpx_slice_of(mcpx_refusal_wire((enum mcpx_refusal)i))))
            continue;
        *out = (enum mcpx_refusal)i;
        return true;
    }
    return false;
}

/* In a topic counts what was changed there at run time, too. */
static int show(const struct inquiry *inquiry, const struct mcpx_text *answer, bool json)
{
    static const struct entrance may_enter; /* else the router had answered otherwise */
    static const char *const names[] = {"grant", "nearest", "would_allow", "alternative"};
    struct mcpx_decision decision = {.refusal = MCPX_DENIED};
    struct mcpx_slice *const slots[] = {&decision.grant, &decision.nearest,
                                        &decision.would_allow, &decision.alternative};
    struct mcpx_text held[4] = {{0}};
    struct mcpx_slice value = {0};
    int status = STATUS_FAILED;

    (void)mcpx_json_check(mcpx_text_view(answer), 0, &value, NULL);
    if (value.text && inquiry->topic.text)
        value = mcpx_json_get(value, "now");
    if (!value.text || !read_refusal(value, &decision.refusal))
        return fail_with(STATUS_FAILED, "the router's answer is no decision");
    for (size_t i = 0; i < 4; i++)
        if (mcpx_json_add_unescaped(&held[i], mcpx_json_get(value, names[i])))
            *slots[i] = held[i].text ? mcpx_text_view(&held[i]) : MCPX_SLICE("");
    status = inquiry_answer(inquiry, &decision, inquiry->topic.text ? &may_enter : NULL, json);
    for (size_t i = 0; i < 4; i++)
        mcpx_text_fini(&held[i]);
    return status;
}

/* Asks the router. Returns as inquiry_answer, or an exit code, having complained. */
static int can_live(const struct arguments *arguments, struct inquiry *inquiry)
{
    mx_scoped_text question = {0}, answer = {0};
    MX_SCOPED(connection_fini) struct connection where = {0};
    int status = connection_read(arguments, 0, 0, &where);

    if (status == STATUS_OK)
        inquiry->topic = mcpx_slice_of(where.client.topic);
    write_question(&question, inquiry);
    if (status == STATUS_OK)
        status = connection_call(
            &where, (struct http_call){.path = "/v0.1/check", .body = question.text}, &answer);
    if (status == STATUS_OK)
        status = show(inquiry, &answer, arguments_have(arguments, "--json"));
    return status;
}

/* ---- asking the configuration ---- */

/* What the router would answer a participant that joins. */
static struct entrance judge_topic(const struct config *config,
                                   const struct tokens_entry *entry,
                                   const struct inquiry *inquiry)
{
    struct entrance entrance = {MCPX_OK, tokens_topic_pattern(entry, inquiry->topic)};

    if (!entrance.pattern.text)
        entrance.err = MCPX_EFORBIDDEN;
    else if (!config->hub.create)
        entrance.err = MCPX_ENOTOPIC;
    return entrance;
}

/* A token with a profile says itself which topics it is for. */
static int answer(const struct config *config, const struct tokens_entry *entry,
                  const struct inquiry *inquiry, bool json)
{
    struct entrance entrance = judge_topic(config, entry, inquiry);
    struct mcpx_question question = {&inquiry->kind, inquiry->address.to,
                                     inquiry->address.count, mx_clock_now().wall_ms};
    struct mcpx_decision decision;

    mcpx_capset_explain(entry->grant->capset, &question, &decision);
    return inquiry_answer(inquiry, &decision, inquiry->profile.text ? NULL : &entrance, json);
}

static int can_offline(const struct inquiry *inquiry, bool json)
{
    MX_SCOPED(config_fini) struct config config = {0};
    const struct tokens_entry *entry;
    int status = load_config(inquiry->file, &config);

    if (status != STATUS_OK)
        return status;
    entry = inquiry->profile.text ? tokens_find_profile(config.tokens, inquiry->profile)
                                  : tokens_find_person(config.tokens, inquiry->participant);
    if (entry)
        return answer(&config, entry, inquiry, json);
    return fail_with(STATUS_USAGE, "%s has no %s of that name: %s", inquiry->file,
                     inquiry->profile.text ? "profile" : "participant",
                     inquiry->profile.text ? inquiry->profile.text
                                           : inquiry->participant.text);
}

int cmd_can(const struct arguments *arguments)
{
    static struct inquiry inquiry;
    bool live = arguments_have(arguments, "--live") || arguments_have(arguments, "--url");
    int status = inquiry_read(arguments, &inquiry);

    if (status != STATUS_OK)
        return status;
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
