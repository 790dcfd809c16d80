/*
 * shape.c - each level is composed from the shapes below it, which are texts already: of items they
 * are sorted, and equal ones stand once.
 */
#include "tools/mcpxctl/gate/shape.h"

#include "lib/core/format.h"
#include <mcpx/digest.h>

#include <stdlib.h>

enum { DEPTH_MAX = 128 };

static enum mcpx_err add(struct mcpx_text *out, struct mcpx_slice value, size_t depth);

static int compare(const void *left, const void *right)
{
    const struct mcpx_text *a = left, *b = right;
    int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);

    return order ? order : (a->len > b->len) - (a->len < b->len);
}

/* The shapes of an array's items, so many as there is room for in `shapes`. */
static enum mcpx_err add_items(struct mcpx_text *out, struct mcpx_slice array,
                               struct mcpx_text *shapes, size_t depth)
{
    struct mcpx_json_walk walk;
    enum mcpx_err err = MCPX_OK;
    size_t count = 0;

    mcpx_json_walk_start(&walk, array);
    while (!err && mcpx_json_walk_next(&walk))
        err = add(&shapes[count++], walk.value, depth);
    if (!err && count > 0)
        qsort(shapes, count, sizeof *shapes, compare);
    mcpx_text_puts(out, "[");
    for (size_t i = 0; !err && i < count; i++)
        if (i == 0 || compare(&shapes[i - 1], &shapes[i]) != 0)
            mx_format(out, "%s%s", i == 0 ? "" : ",", &shapes[i]);
    mcpx_text_puts(out, "]");
    return err;
}

static enum mcpx_err add_array(struct mcpx_text *out, struct mcpx_slice array, size_t depth)
{
    size_t count = mcpx_json_length(array);
    struct mcpx_text *shapes = calloc(count + 1, sizeof *shapes);
    enum mcpx_err err = shapes ? add_items(out, array, shapes, depth) : MCPX_ENOMEM;

    for (size_t i = 0; shapes && i < count; i++)
        mcpx_text_fini(&shapes[i]);
    free(shapes);
    return err;
}

static enum mcpx_err add_object(struct mcpx_text *out, struct mcpx_slice object, size_t depth)
{
    struct mcpx_text members = {0};
    struct mcpx_json_walk walk;
    enum mcpx_err err = MCPX_OK;

    mcpx_text_puts(&members, "{");
    mcpx_json_walk_start(&walk, object);
    while (!err && mcpx_json_walk_next(&walk)) {
        mx_format(&members, "%s\"%s\":", members.len > 1 ? "," : "", walk.name);
        err = add(&members, walk.value, depth);
    }
    mcpx_text_puts(&members, "}");
    if (!err)
        err = members.failed ? MCPX_ENOMEM
                             : mcpx_canonical_add(out, mcpx_text_view(&members), NULL);
    mcpx_text_fini(&members);
    return err;
}

static enum mcpx_err add(struct mcpx_text *out, struct mcpx_slice value, size_t depth)
{
    static const char *const types[] = {
        [MCPX_JSON_ABSENT] = "\"absent\"", [MCPX_JSON_STRING] = "\"string\"",
        [MCPX_JSON_NUMBER] = "\"number\"", [MCPX_JSON_BOOL] = "\"boolean\"",
        [MCPX_JSON_NULL] = "\"null\"",
    };
    enum mcpx_json_type type = mcpx_json_type(value);
    enum mcpx_err err = MCPX_OK;

    if (depth > DEPTH_MAX)
        return MCPX_EINVALID;
    if (type == MCPX_JSON_OBJECT)
        err = add_object(out, value, depth + 1);
    else if (type == MCPX_JSON_ARRAY)
        err = add_array(out, value, depth + 1);
    else
        mcpx_text_puts(out, types[type]);
    return !err && out->failed ? MCPX_ENOMEM : err;
}

enum mcpx_err shape_add(struct mcpx_text *out, struct mcpx_slice value)
{
    struct mcpx_text shape = {0};
    enum mcpx_err err = add(&shape, value, 0);

    if (!err)
        mcpx_text_slice(out, mcpx_text_view(&shape));
    mcpx_text_fini(&shape);
    return !err && out->failed ? MCPX_ENOMEM : err;
}
