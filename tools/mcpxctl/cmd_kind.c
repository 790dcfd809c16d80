/*
 * cmd_kind.c - shows how the router reads a kind.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/mcpxctl/kind_word.h"
#include "tools/mcpxctl/output.h"
#include <mcpx/json.h>

static int report_fault(const struct mcpx_fault *fault, bool json)
{
    struct mcpx_text out = {0};

    if (!json) {
        complain("kind", "not a valid kind: %s, byte %zu: %s", fault->field, fault->offset,
                 fault->reason);
        return STATUS_USAGE;
    }
    mcpx_text_puts(&out, "{\"valid\":false,");
    mcpx_json_add_member(&out, "reason", mcpx_slice_of(fault->reason));
    mcpx_text_puts(&out, ",");
    mcpx_json_add_member(&out, "field", mcpx_slice_of(fault->field));
    mcpx_text_puts(&out, ",\"offset\":");
    mcpx_text_number(&out, (int64_t)fault->offset);
    mcpx_text_puts(&out, "}\n");
    return output_print(&out, "kind", STATUS_USAGE);
}

static void put_component(struct mcpx_text *out, const char *name, struct mcpx_slice text,
                          bool json)
{
    if (!text.text)
        return;
    if (json) {
        mcpx_text_puts(out, ",");
        mcpx_json_add_member(out, name, text);
        return;
    }
    mcpx_text_puts(out, name);
    for (size_t i = strlen(name); i < 9; i++)
        mcpx_text_puts(out, " ");
    mcpx_text_slice(out, text);
    mcpx_text_puts(out, "\n");
}

int cmd_kind(const struct arguments *arguments)
{
    bool json = arguments_have(arguments, "--json");
    struct mcpx_text out = {0};
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_kind kind;

    if (!kind_word_read(arguments->operands[0], &kind, &fault))
        return report_fault(&fault, json);
    if (json)
        mcpx_text_puts(&out, "{\"valid\":true");
    put_component(&out, "type", kind.type, json);
    put_component(&out, "method", kind.method, json);
    put_component(&out, "context", kind.context, json);
    if (json) {
        mcpx_text_puts(&out, mcpx_kind_is_reserved(&kind) ? ",\"reserved\":true"
                                                          : ",\"reserved\":false");
        mcpx_text_puts(&out, mcpx_kind_has_dot_segment(&kind) ? ",\"dot_segment\":true}\n"
                                                              : ",\"dot_segment\":false}\n");
    } else {
        if (mcpx_kind_is_reserved(&kind))
            mcpx_text_puts(&out, "note     only the router may send this type\n");
        if (mcpx_kind_has_dot_segment(&kind))
            mcpx_text_puts(&out, "note     the context has a dot segment, which no '*' among "
                                 "other bytes of a context covers\n");
    }
    return output_print(&out, "kind", STATUS_OK);
}
