/*
 * can_text.c - the question of "can" from the command line, and its answer for people and for
 * programs.
 */
#include "tools/mcpxctl/can.h"

#include "lib/core/format.h"
#include "lib/core/json_write.h"
#include "tools/mcpxctl/kind_word.h"
#include "tools/mcpxctl/output.h"

int inquiry_read(const struct arguments *arguments, struct inquiry *out)
{
    struct mcpx_fault fault = {"", "", 0};

    out->file = arguments_value(arguments, "--config");
    out->participant = mcpx_slice_of(arguments_value(arguments, "--participant"));
    out->profile = mcpx_slice_of(arguments_value(arguments, "--profile"));
    out->topic = mcpx_slice_of(arguments_value(arguments, "--topic"));
    if (!kind_word_read(arguments->operands[0], &out->kind, &fault))
        return fail_with(STATUS_USAGE, "can", "not a valid kind: %s, byte %zu: %s",
                         fault.field, fault.offset, fault.reason);
    if (out->topic.text && connection_check_topic("can", out->topic.text) != STATUS_OK)
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

int inquiry_answer(const struct inquiry *inquiry, const struct mcpx_decision *decision,
                   const struct entrance *entrance, bool json)
{
    struct mcpx_text out = {0};

    if (json)
        write_for_programs(inquiry, decision, entrance, &out);
    else
        write_for_people(inquiry, decision, entrance, &out);
    return output_print(&out, "can",
                        is_allowed(decision, entrance) ? STATUS_OK : STATUS_REFUSED);
}
