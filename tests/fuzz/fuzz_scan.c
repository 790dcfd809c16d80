/*
 * fuzz_scan.c - any bytes: the scanner agrees with jansson on what is JSON, every extent it gives
 * is itself a JSON text, its faults lie inside the text, cutting an accepted object's text never
 * leaves an accepted one, and every vector unit comes to the same result.
 */
#include "lib/base/plain.h"
#include "lib/json/scan.h"

#include "tests/fuzz/fuzz.h"
#include "tests/support/jansson_judge.h"

#include <stdlib.h>

static bool lies_within(struct mcpx_slice inner, struct mcpx_slice outer)
{
    return inner.text >= outer.text && inner.text + inner.len <= outer.text + outer.len;
}

static void check_value(struct mcpx_slice value, enum mcpx_json_type type)
{
    struct mx_scan again;
    struct mcpx_fault fault;

    must(mx_scan(value, 0, &again, &fault) == MCPX_OK);
    must(again.type == type);
    must(again.value.text == value.text && again.value.len == value.len);
}

static void check_name(const struct mx_member *member)
{
    char *name = malloc(member->name.len + 1);
    size_t len = 0;
    bool whole;

    if (!name)
        return;
    whole = mx_unescape(member->name, name, &len);
    must(len <= member->name.len);
    must(mx_utf8_is_valid((struct mcpx_slice){name, len}, NULL));
    must(member->name_escaped || (whole && len == member->name.len));
    must(!member->name_escaped || len < member->name.len);
    name[len] = '\0';
    if (whole && strlen(name) == len)
        must(mx_member_is(member, name));
    free(name);
}

static void check_accepted(const struct mx_scan *scan, struct mcpx_slice text)
{
    must(lies_within(scan->value, text));
    must(scan->count <= scan->total && scan->count <= MCPX_MEMBERS_MAX);
    must(scan->total == 0 || scan->type == MCPX_JSON_OBJECT);
    check_value(scan->value, scan->type);
    for (size_t i = 0; i < scan->count; i++) {
        must(lies_within(scan->members[i].name, scan->value));
        must(lies_within(scan->members[i].value, scan->value));
        check_name(&scan->members[i]);
        check_value(scan->members[i].value, scan->members[i].type);
    }
    mx_scan_duplicate(scan);
}

static bool same_slice(struct mcpx_slice a, struct mcpx_slice b)
{
    return a.text == b.text && a.len == b.len;
}

static void check_same(const struct mx_scan *a, const struct mx_scan *b)
{
    must(a->type == b->type && same_slice(a->value, b->value));
    must(a->count == b->count && a->total == b->total);
    for (size_t i = 0; i < a->count; i++) {
        must(same_slice(a->members[i].name, b->members[i].name));
        must(same_slice(a->members[i].value, b->members[i].value));
        must(a->members[i].type == b->members[i].type);
        must(a->members[i].name_escaped == b->members[i].name_escaped);
        must(a->members[i].value_escaped == b->members[i].value_escaped);
    }
}

/* The deepest nesting of a JSON text. */
static size_t depth_of(struct mcpx_slice text)
{
    size_t depth = 0, deepest = 0;
    bool in_string = false;

    for (size_t i = 0; i < text.len; i++) {
        if (text.text[i] == '"')
            in_string = !in_string;
        else if (in_string)
            i += text.text[i] == '\\';
        else if (text.text[i] == '{' || text.text[i] == '[')
            deepest = ++depth > deepest ? depth : deepest;
        else if (text.text[i] == '}' || text.text[i] == ']')
            depth--;
    }
    return deepest;
}

/* Scans with each unit; leaves the fastest in use. */
static void check_units(struct mcpx_slice text)
{
    struct mx_scan first, scan;
    struct mcpx_fault first_fault = {NULL, NULL, 0}, fault = {NULL, NULL, 0};
    enum mcpx_err first_err, err;

    mx_plain_use(&mx_plain_units[mx_plain_unit_count - 1]);
    first_err = mx_scan(text, 0, &first, &first_fault);
    for (size_t i = mx_plain_unit_count - 1; i-- > 0;) {
        if (!mx_plain_units[i].usable())
            continue;
        mx_plain_use(&mx_plain_units[i]);
        err = mx_scan(text, 0, &scan, &fault);
        must(err == first_err && fault.offset == first_fault.offset);
        must(fault.reason == first_fault.reason);
        if (err == MCPX_OK)
            check_same(&first, &scan);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice text = {(const char *)data, size};
    struct mx_scan scan;
    struct mcpx_fault fault = {NULL, NULL, size + 1};
    enum mcpx_err err = mx_scan(text, 0, &scan, &fault);
    enum judgement judgement = jansson_judge(text);

    size_t depth = err ? 0 : depth_of(text);

    check_units(text);
    must(judgement == JUDGE_OTHER || (judgement == JUDGE_ACCEPTS) == (err == MCPX_OK));
    if (err == MCPX_OK) {
        check_accepted(&scan, text);
        must(depth < 2 || mx_scan(text, depth - 1, &scan, &fault) != MCPX_OK);
        must(mx_scan(text, depth, &scan, &fault) == MCPX_OK);
        text.len = (size_t)(scan.value.text - text.text) + scan.value.len - 1;
        must(scan.type == MCPX_JSON_NUMBER || mx_scan(text, 0, &scan, &fault) != MCPX_OK);
    } else {
        must(fault.reason && fault.field && fault.offset <= size);
        must((err == MCPX_EUTF8) == !mx_utf8_is_valid(text, NULL));
    }
    return 0;
}
