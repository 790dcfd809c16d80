/*
 * cmd_kind.c - shows how the router reads a kind.
 */
#include "tools/mcpxctl/verbs.h"

#include "lib/core/format.h"
#include "lib/core/json_write.h"
#include "tools/mcpxctl/kind_word.h"
#include "tools/mcpxctl/output.h"

static int report_fault(const struct mcpx_fault *fault, bool json)
{
    struct mcpx_text out = {0};

    if (!json)
        return fail_with(STATUS_USAGE, "kind", "not a valid kind: %s, byte %zu: %s",
                         fault->field, fault->offset, fault->reason);
    mx_format(&out, "{\"valid\":false,\"reason\":%q,\"field\":%q,\"offset\":%s}\n",
              fault->reason, fault->field, fault->offset);
    return output_print(&out, "kind", STATUS_USAGE);
}

static void write_json(struct mcpx_text *out, const struct mcpx_kind *kind)
{
    mx_format(out, "{\"valid\":true,\"type\":%q", kind->type);
    mx_json_add_optional(out, "method", kind->method);
    mx_json_add_optional(out, "context", kind->context);
    mx_format(out, ",\"reserved\":%s,\"dot_segment\":%s}\n", mcpx_kind_is_reserved(kind),
              mcpx_kind_has_dot_segment(kind));
}

static void write_table(struct mcpx_text *out, const struct mcpx_kind *kind)
{
    mx_format(out, "type     %s\n", kind->type);
    if (kind->method.text)
        mx_format(out, "method   %s\n", kind->method);
    if (kind->context.text)
        mx_format(out, "context  %s\n", kind->context);
    if (mcpx_kind_is_reserved(kind))
        mcpx_text_puts(out, "note     only the router may send this type\n");
    if (mcpx_kind_has_dot_segment(kind))
        mcpx_text_puts(out, "note     the context has a dot segment, which no '*' among "
                            "other bytes of a context covers\n");
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
        write_json(&out, &kind);
    else
        write_table(&out, &kind);
    return output_print(&out, "kind", STATUS_OK);
}
