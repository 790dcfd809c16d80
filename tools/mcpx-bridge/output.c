/*
 * output.c - a list of actions, each in one piece of memory with a copy of its texts: an action
 * outlives the input that led to it, and often the request as well. A text made for the action may
 * have 64 MiB, so it is taken without a copy.
 */
#include "tools/mcpx-bridge/output.h"

#include "tools/common/command.h"
#include "tools/mcpx-bridge/bridge.h"

#include <stdlib.h>

/* The texts of a row, without the addressees and the type of its draft. */
enum { TEXTS = 6 };

static void texts_of(struct bridge_row *row, struct mcpx_slice *texts[TEXTS])
{
    texts[0] = &row->action.about;
    texts[1] = &row->action.text;
    texts[2] = &row->action.draft.correlation_id;
    texts[3] = &row->action.draft.payload;
    texts[4] = &row->who;
    texts[5] = &row->method;
}

void bridge_output_append(struct bridge_output *output, struct bridge_row *row)
{
    row->next = NULL;
    *(output->first ? &output->last->next : &output->first) = row;
    output->last = row;
}

struct bridge_row *bridge_output_add(struct bridge_output *output,
                                     const struct bridge_row *row)
{
    struct bridge_row copy = *row;
    struct mcpx_draft *draft = &copy.action.draft;
    struct mcpx_slice *texts[TEXTS], *to;
    struct mcpx_slice type = draft->type ? mcpx_slice_of(draft->type) : (struct mcpx_slice){0};
    size_t len = draft->to_count * sizeof *to + type.len + 1;
    struct bridge_row *added;
    char *at;

    copy.taken = (struct mcpx_text){0}; /* that of the row it was copied from stays there */
    texts_of(&copy, texts);
    for (size_t i = 0; i < TEXTS; i++)
        len += texts[i]->len;
    for (size_t i = 0; i < draft->to_count; i++)
        len += draft->to[i].len;
    added = malloc(sizeof *added + len);
    to = (struct mcpx_slice *)(added + 1);
    at = (char *)(to + draft->to_count);
    for (size_t i = 0; i < TEXTS; i++)
        *texts[i] = mx_keep(&at, *texts[i]);
    for (size_t i = 0; i < draft->to_count; i++)
        to[i] = mx_keep(&at, draft->to[i]);
    draft->to = to;
    draft->type = mx_keep(&at, type).text;
    *at = '\0';
    *added = copy;
    bridge_output_append(output, added);
    return added;
}

void bridge_output_put(struct bridge_output *output, struct bridge_row row,
                       struct mcpx_text text)
{
    struct bridge_row *added = bridge_output_add(output, &row);

    added->taken = text;
    *(row.action.type == BRIDGE_SEND ? &added->action.draft.payload : &added->action.text) =
        text_whole(&text);
}

struct bridge_row *bridge_output_take(struct bridge_output *output)
{
    struct bridge_row *row = output->first;

    output->first = row->next;
    return row;
}

void bridge_row_free(struct bridge_row *row)
{
    mcpx_text_fini(&row->taken);
    free(row);
}

void bridge_output_fini(struct bridge_output *output)
{
    while (output->first)
        bridge_row_free(bridge_output_take(output));
}
