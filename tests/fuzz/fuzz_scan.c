/*
 * fuzz_scan.c - any bytes: the scanner agrees with jansson on what is JSON, every extent it gives
 * is itself a JSON text, its faults lie inside the text, cutting an accepted object's text never
 * leaves an accepted one, and every vector unit comes to the same result.
 */
#include "lib/core/plain.h"
#include "lib/core/scan.h"

#include "tests/support/jansson_judge.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(bool condition)
{
    if (!condition)
        abort();
}

static bool lies_within(struct mcpx_slice inner, struct mcpx_slice outer)
{
    return inner.text >= outer.text && inner.text + inner.len <= outer.text + outer.len;
}

static void check_value(struct mcpx_slice value, enum mcpx_json_type type)
{
    struct mx_scan again;
    struct mcpx_fault fault;

    insist(mx_scan(value, 0, &again, &fault) == MCPX_OK);
    insist(again.type == type);
    insist(again.value.text == value.text && again.value.len == value.len);
}

static void check_name(const struct mx_member *member)
{
    char *name = malloc(member->name.len + 1);
    size_t len = 0;
    bool whole;

    if (!name)
        return;
    whole = mx_unescape(member->name, name, &len);
    insist(len <= member->name.len);
    insist(mx_utf8_is_valid((struct mcpx_slice){name, len}, NULL));
    insist(member->name_escaped || (whole && len == member->name.len));
    insist(!member->name_escaped || len < member->name.len);
    name[len] = '\0';
    if (whole && strlen(name) == len)
        insist(mx_member_is(member, name));
    free(name);
}

/* With the vectors of the architecture and without. */
static void check_nested(struct mcpx_slice value)
{
    const unsigned char *at = (const unsigned char *)value.text, *end = at + value.len;

    if (*at == '{' || *at == '[')
        insist(mx_nested_skip(at, end) == end && mx_nested_portable(at, end) == end);
}

static void check_accepted(const struct mx_scan *scan, struct mcpx_slice text)
{
    insist(lies_within(scan->value, text));
    insist(scan->count <= scan->total && scan->count <= MCPX_MEMBERS_MAX);
    insist(scan->total == 0 || scan->type == MCPX_JSON_OBJECT);
    check_value(scan->value, scan->type);
    check_nested(scan->value);
    for (size_t i = 0; i < scan->count; i++) {
        insist(lies_within(scan->members[i].name, scan->value));
        insist(lies_within(scan->members[i].value, scan->value));
        check_name(&scan->members[i]);
        check_value(scan->members[i].value, scan->members[i].type);
        check_nested(scan->members[i].value);
    }
    mx_scan_duplicate(scan);
}

static void check_vectors(struct mcpx_slice text)
{
    const unsigned char *at = (const unsigned char *)text.text, *end = at + text.len;

    for (const unsigned char *stop = end - at > 256 ? at + 256 : end; at < stop; at++)
        insist(mx_plain_skip(at, end) == mx_plain_portable(at, end));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice text = {(const char *)data, size};
    struct mx_scan scan;
    struct mcpx_fault fault = {NULL, NULL, size + 1};
    enum mcpx_err err = mx_scan(text, 0, &scan, &fault);
    enum judgement judgement = jansson_judge(text);

    check_vectors(text);
    insist(judgement == JUDGE_OTHER || (judgement == JUDGE_ACCEPTS) == (err == MCPX_OK));
    if (err == MCPX_OK) {
        check_accepted(&scan, text);
        insist(scan.depth == 0 || mx_scan(text, scan.depth, &scan, &fault) == MCPX_OK);
        insist(scan.depth < 2 || mx_scan(text, scan.depth - 1, &scan, &fault) != MCPX_OK);
        text.len = (size_t)(scan.value.text - text.text) + scan.value.len - 1;
        insist(scan.type == MCPX_JSON_NUMBER || mx_scan(text, 0, &scan, &fault) != MCPX_OK);
    } else {
        insist(fault.reason && fault.field && fault.offset <= size);
        insist((err == MCPX_EUTF8) == !mx_utf8_is_valid(text, NULL));
    }
    return 0;
}
