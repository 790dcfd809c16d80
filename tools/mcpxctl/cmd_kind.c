/*
 * cmd_kind.c - shows how the router reads a kind.
 * Includes command.h, kind_word.h and json.h.
 */
#include "tools/mcpxctl/command.h"

#include "lib/core/json.h"
#include "tools/mcpxctl/kind_word.h"

#include <stdio.h>

static int print(struct mx_strbuf *out, int status)
{
    if (out->failed) {
        complain("kind", "%s", mcpx_strerror(MCPX_ENOMEM));
        status = STATUS_FAILED;
    } else {
        fwrite(out->text, 1, out->len, stdout);
    }
    mx_strbuf_fini(out);
    return status;
}

static int report_fault(const struct mcpx_fault *fault, bool json)
{
    struct mx_strbuf out = {0};

    if (!json) {
        complain("kind", "not a valid kind: %s, byte %zu: %s", fault->field, fault->offset,
                 fault->reason);
        return STATUS_USAGE;
    }
    mx_strbuf_puts(&out, "{\"valid\":false,");
    mx_json_member(&out, "reason", mcpx_slice_of(fault->reason));
    mx_strbuf_puts(&out, ",");
    mx_json_member(&out, "field", mcpx_slice_of(fault->field));
    mx_strbuf_puts(&out, ",\"offset\":");
    mx_strbuf_number(&out, (int64_t)fault->offset);
    mx_strbuf_puts(&out, "}\n");
    return print(&out, STATUS_USAGE);
}

static void put_component(struct mx_strbuf *out, const char *name, struct mcpx_slice text,
                          bool json)
{
    if (!text.text)
        return;
    if (json) {
        mx_strbuf_puts(out, ",");
        mx_json_member(out, name, text);
        return;
    }
    mx_strbuf_puts(out, name);
    for (size_t i = strlen(name); i < 9; i++)
        mx_strbuf_puts(out, " ");
    mx_strbuf_slice(out, text);
    mx_strbuf_puts(out, "\n");
}

int cmd_kind(const struct arguments *arguments)
{
    bool json = arguments_have(arguments, "--json");
    struct mx_strbuf out = {0};
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_kind kind;

    if (!kind_word_read(arguments->operands[0], &kind, &fault))
        return report_fault(&fault, json);
    if (json)
        mx_strbuf_puts(&out, "{\"valid\":true");
    put_component(&out, "type", kind.type, json);
    put_component(&out, "method", kind.method, json);
    put_component(&out, "context", kind.context, json);
    if (json) {
        mx_strbuf_puts(&out, mcpx_kind_is_reserved(&kind) ? ",\"reserved\":true"
                                                          : ",\"reserved\":false");
        mx_strbuf_puts(&out, mcpx_kind_has_dot_segment(&kind) ? ",\"dot_segment\":true}\n"
                                                              : ",\"dot_segment\":false}\n");
    } else {
        if (mcpx_kind_is_reserved(&kind))
            mx_strbuf_puts(&out, "note     only the router may send this type\n");
        if (mcpx_kind_has_dot_segment(&kind))
            mx_strbuf_puts(&out, "note     the context has a dot segment, which no '*' among "
                                 "other bytes of a context covers\n");
    }
    return print(&out, STATUS_OK);
}
