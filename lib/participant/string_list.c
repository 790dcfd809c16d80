/*
 * string_list.c - lists of capabilities and addressees as the router writes them. A string never
 * becomes longer when it is unescaped, so the length of the array is room enough for all.
 */
#include "lib/participant/string_list.h"

#include <stdlib.h>

/* Adds one string to the list, its bytes at `*at`. */
static enum mcpx_err add(struct mx_string_list *list, struct mcpx_slice value,
                         struct mcpx_text *scratch, char **at)
{
    mcpx_text_reset(scratch);
    if (!mcpx_json_add_unescaped(scratch, value))
        return scratch->failed ? MCPX_ENOMEM : MCPX_EINVALID;
    if (scratch->failed)
        return MCPX_ENOMEM;
    if (scratch->len)
        memcpy(*at, scratch->text, scratch->len);
    list->items[list->count++] = (struct mcpx_slice){*at, scratch->len};
    *at += scratch->len;
    return MCPX_OK;
}

enum mcpx_err mx_string_list_read(struct mcpx_slice array, struct mx_string_list *out)
{
    struct mx_string_list list = {0};
    struct mcpx_text scratch = {0};
    struct mcpx_json_walk walk;
    enum mcpx_err err = MCPX_OK;
    size_t count;
    char *at;

    if (array.text && mcpx_json_type(array) != MCPX_JSON_ARRAY)
        return MCPX_EINVALID;
    count = mcpx_json_length(array);
    list.items = malloc(count * sizeof *list.items + array.len + 1);
    if (!list.items)
        return MCPX_ENOMEM;
    at = (char *)(list.items + count);
    mcpx_json_walk_start(&walk, array);
    while (!err && count > 0 && mcpx_json_walk_next(&walk))
        err = add(&list, walk.value, &scratch, &at);
    mcpx_text_fini(&scratch);
    if (err)
        mx_string_list_fini(&list);
    else
        *out = list;
    return err;
}

void mx_string_list_fini(struct mx_string_list *list)
{
    free(list->items);
    *list = (struct mx_string_list){0};
}
