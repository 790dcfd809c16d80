/*
 * can_text.c - the question of "can" from the command line, and its answer for people and for
 * programs.
 */
#include "tools/mcpxctl/can.h"

#include "tools/mcpxctl/kind_word.h"
#include "tools/mcpxctl/output.h"
#include <mcpx/json.h>

int inquiry_read(const struct arguments *arguments, struct inquiry *out)
{
    struct mcpx_fault fault = {"", "", 0};

    out->file = arguments_value(arguments, "--config");
    out->participant = mcpx_slice_of(arguments_value(arguments, "--participant"));
    if (!kind_word_read(arguments->operands[0], &out->kind, &fault)) {
        complain("can", "not a valid kind: %s, byte %zu: %s", fault.field, fault.offset,
                 fault.reason);
        return STATUS_USAGE;
    }
    return address_read(arguments, &out->address);
}

static void put_line(struct mcpx_text *out, const char *label, struct mcpx_slice text)
{
    if (!text.text)
        return;
    mcpx_text_puts(out, label);
    mcpx_text_slice(out, text);
    mcpx_text_puts(out, "\n");
}

static const char *reason_sentence(enum mcpx_refusal refusal)
{
    switch (refusal) {
    case MCPX_ALLOWED:
        return "";
    case MCPX_NO_MATCHING_GRANT:
        return "no grant covers this kind";
    case MCPX_DENIED:
        return "a denial covers this kind";
    case MCPX_GRANT_EXPIRED:
        return "the grant that covers this kind has expired";
    case MCPX_TARGET_NOT_ALLOWED:
        return "the grant that covers this kind is for other addressees";
    case MCPX_RESERVED_NAMESPACE:
        return "only the router may send this type";
    }
    return "";
}

static void write_for_people(const struct inquiry *inquiry,
                             const struct mcpx_decision *decision, struct mcpx_text *out)
{
    bool allowed = decision->refusal == MCPX_ALLOWED;

    mcpx_text_puts(out, allowed ? "allowed: " : "refused: ");
    mcpx_text_puts(out, inquiry->participant.text ? "" : "this participant");
    mcpx_text_slice(out, inquiry->participant);
    mcpx_text_puts(out, allowed ? " may send " : " may not send ");
    mcpx_text_slice(out, inquiry->kind.text);
    mcpx_text_puts(out, " to ");
    for (size_t i = 0; i < inquiry->address.count; i++) {
        mcpx_text_puts(out, i > 0 ? ", " : "");
        mcpx_text_slice(out, inquiry->address.to[i]);
    }
    mcpx_text_puts(out, inquiry->address.count == 0 ? "everyone\n" : "\n");
    if (!allowed)
        put_line(out, "  reason       ", mcpx_slice_of(reason_sentence(decision->refusal)));
    put_line(out, decision->refusal == MCPX_DENIED ? "  denial       " : "  grant        ",
             decision->grant);
    if (allowed)
        return;
    put_line(out, "  nearest      ", decision->nearest);
    put_line(out, "  would allow  ", decision->would_allow);
    put_line(out, "  alternative  ", decision->alternative);
}

static void put_member(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    if (!text.text)
        return;
    mcpx_text_puts(out, ",");
    mcpx_json_add_member(out, name, text);
}

static void write_for_programs(const struct mcpx_decision *decision, struct mcpx_text *out)
{
    mcpx_text_puts(out, decision->refusal == MCPX_ALLOWED ? "{\"allowed\":true"
                                                          : "{\"allowed\":false");
    put_member(out, "reason", mcpx_slice_of(mcpx_refusal_wire(decision->refusal)));
    put_member(out, "grant", decision->grant);
    put_member(out, "nearest", decision->nearest);
    put_member(out, "would_allow", decision->would_allow);
    put_member(out, "alternative", decision->alternative);
    mcpx_text_puts(out, "}\n");
}

int inquiry_answer(const struct inquiry *inquiry, const struct mcpx_decision *decision,
                   bool json)
{
    bool allowed = decision->refusal == MCPX_ALLOWED;
    struct mcpx_text out = {0};

    if (json)
        write_for_programs(decision, &out);
    else
        write_for_people(inquiry, decision, &out);
    return output_print(&out, "can", allowed ? STATUS_OK : STATUS_REFUSED);
}
