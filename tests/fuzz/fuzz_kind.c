/*
 * fuzz_kind.c - any bytes as a kind: parsed, every predicate asked, compared with the oracle.
 * What a parsed kind promises is checked: its parts lie in its text, joined by colons they are the
 * text, and parsing again gives the same.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/support/oracle.h"
#include <mcpx/kind.h>

static void check_parts(const struct mcpx_kind *kind)
{
    const char *end = kind->text.text + kind->text.len;
    size_t len = kind->type.len;

    must(kind->type.text == kind->text.text && kind->type.len > 0);
    if (kind->method.text) {
        must(kind->method.text == kind->text.text + len + 1 && kind->method.len > 0);
        must(kind->method.text[-1] == ':');
        len += 1 + kind->method.len;
    }
    if (kind->context.text) {
        must(kind->method.text && kind->context.text == kind->text.text + len + 1);
        must(kind->context.len > 0 && kind->context.text[-1] == ':');
        len += 1 + kind->context.len;
    }
    must(kind->text.text + len == end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice text = {(const char *)data, size};
    struct mcpx_fault fault = {NULL, NULL, 0};
    struct mcpx_kind kind;

    if (mcpx_kind_parse(text, &kind, &fault)) {
        must(fault.reason && fault.field && fault.offset <= size);
        return 0;
    }
    check_parts(&kind);
    must(mcpx_kind_has_dot_segment(&kind) == oracle_is_dotted(text));
    must(mcpx_kind_is_reserved(&kind) == oracle_is_reserved(text));
    return 0;
}
