/*
 * json_read.c - looking into a well-formed JSON text without building values. A walk passes over
 * one member or item at a time; what lies inside a value is only counted through, since a text
 * that was accepted has every bracket closed by its own kind. So a lookup costs one pass and no
 * memory, and what it finds is the sender's bytes. A tree would cost an allocation per value and
 * forget how a number was written.
 *
 * A text that was not accepted makes a walk end early; it is never read beyond its end.
 */
#include <mcpx/json.h>

#include "lib/core/escape.h"
#include "lib/core/fold.h"
#include "lib/core/scalar.h"
#include "lib/core/scan.h"

enum mcpx_json_type mcpx_json_type(struct mcpx_slice value)
{
    return value.len ? mx_type_of((unsigned char)value.text[0]) : MCPX_JSON_ABSENT;
}

enum mcpx_err mcpx_json_check(struct mcpx_slice text, size_t depth_max,
                              struct mcpx_slice *value, struct mcpx_fault *fault)
{
    struct mcpx_fault found = {"", "", 0};
    struct mx_scan scan;
    enum mcpx_err err = mx_scan(text, depth_max, &scan, &found);

    if (err == MCPX_OK)
        *value = scan.value;
    else if (fault)
        *fault = found;
    return err;
}

static const unsigned char *skip_value(struct mx_reader *reader, const unsigned char *at)
{
    if (at < reader->end && (*at == '{' || *at == '['))
        return mx_nested_skip(at, reader->end);
    return mx_scalar_skip(reader, at);
}

static struct mcpx_slice slice_between(const unsigned char *from, const unsigned char *to)
{
    return (struct mcpx_slice){(const char *)from, (size_t)(to - from)};
}

static const struct mcpx_slice absent;

/* Passes over `"name":`, noting the name, and the white space after it; NULL when it cannot. */
static const unsigned char *read_name(struct mcpx_json_walk *walk, struct mx_reader *reader,
                                      const unsigned char *at)
{
    const unsigned char *end;

    if (at == reader->end || *at != '"')
        return NULL;
    end = mx_string_pass(reader, at + 1);
    if (!end)
        return NULL;
    walk->name = slice_between(at + 1, end - 1);
    at = mx_space_skip(end, reader->end);
    if (at == reader->end || *at != ':')
        return NULL;
    return mx_space_skip(at + 1, reader->end);
}

void mcpx_json_walk_start(struct mcpx_json_walk *walk, struct mcpx_slice value)
{
    enum mcpx_json_type type = mcpx_json_type(value);

    *walk = (struct mcpx_json_walk){absent, absent, NULL, NULL};
    if (type == MCPX_JSON_OBJECT || type == MCPX_JSON_ARRAY) {
        walk->at = value.text;
        walk->end = value.text + value.len;
    }
}

/* Ends the walk for good. */
static bool walk_over(struct mcpx_json_walk *walk)
{
    walk->name = walk->value = absent;
    walk->at = NULL;
    return false;
}

/* `at` is the bracket that opens or the comma before the next value; later, what follows one. */
bool mcpx_json_walk_next(struct mcpx_json_walk *walk)
{
    struct mx_reader reader = {.end = (const unsigned char *)walk->end};
    const unsigned char *at = (const unsigned char *)walk->at, *end;
    bool in_object;

    if (!at || at == reader.end || *at == '}' || *at == ']')
        return walk_over(walk);
    /* the closing bracket, which a well-formed text ends with, tells the two apart */
    in_object = walk->end[-1] == '}';
    at = mx_space_skip(at + 1, reader.end);
    if (in_object)
        at = read_name(walk, &reader, at);
    if (!at)
        return walk_over(walk);
    end = skip_value(&reader, at);
    if (!end)
        return walk_over(walk);
    walk->value = slice_between(at, end);
    walk->at = (const char *)mx_space_skip(end, reader.end);
    return true;
}

bool mcpx_json_walk_at(const struct mcpx_json_walk *walk, const char *name)
{
    return walk->name.text && mx_inside_is(walk->name, mcpx_slice_of(name));
}

struct mcpx_slice mcpx_json_get(struct mcpx_slice object, const char *name)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, object);
    while (mcpx_json_walk_next(&walk))
        if (mcpx_json_walk_at(&walk, name))
            return walk.value;
    return absent;
}

size_t mcpx_json_length(struct mcpx_slice value)
{
    struct mcpx_json_walk walk;
    size_t count = 0;

    mcpx_json_walk_start(&walk, value);
    while (mcpx_json_walk_next(&walk))
        count++;
    return count;
}

size_t mcpx_json_count(struct mcpx_slice object, const char *name)
{
    struct mcpx_json_walk walk;
    size_t count = 0;

    mcpx_json_walk_start(&walk, object);
    while (mcpx_json_walk_next(&walk))
        count += mcpx_json_walk_at(&walk, name);
    return count;
}

size_t mcpx_json_count_like(struct mcpx_slice object, const char *name)
{
    struct mcpx_json_walk walk;
    size_t count = 0;

    mcpx_json_walk_start(&walk, object);
    while (mcpx_json_walk_next(&walk))
        count += walk.name.text && mx_fold_compare(walk.name, name) != MX_UNLIKE;
    return count;
}

static struct mcpx_slice inside(struct mcpx_slice value)
{
    return (struct mcpx_slice){value.text + 1, value.len - 2};
}

bool mcpx_json_equals(struct mcpx_slice value, struct mcpx_slice text)
{
    return mcpx_json_type(value) == MCPX_JSON_STRING && mx_inside_is(inside(value), text);
}

bool mcpx_json_add_unescaped(struct mcpx_text *out, struct mcpx_slice value)
{
    size_t len;
    bool whole;

    if (mcpx_json_type(value) != MCPX_JSON_STRING)
        return false;
    if (!mcpx_text_reserve(out, value.len))
        return true;
    whole = mx_unescape(inside(value), out->text + out->len, &len);
    if (whole)
        out->len += len;
    out->text[out->len] = '\0';
    return whole;
}
