/*
 * held.c - requests that came before the topic's servers were known. A client lists tools
 * the moment it is connected; answered at once, it would see none and many never ask again.
 */
#include "tools/mcpx-bridge/expose/request.h"

#include "tools/mcpx-bridge/expose/state.h"
#include "tools/mcpx-bridge/expose/tell.h"

#include <stdlib.h>

/* How long a router that is not there yet is waited for. */
enum { REACH_MS = 20000 };

void expose_hold(struct expose *x, struct mcpx_slice line)
{
    struct expose_held *held = calloc(1, sizeof *held);
    struct expose_held **at = &x->held;

    if (held)
        mcpx_text_slice(&held->line, line);
    if (!held || held->line.failed) {
        free(held);
        expose_note(x, MCPX_SLICE("out of memory: a request was lost"));
        return;
    }
    if (!x->reach_ms)
        x->reach_ms = x->now.mono_ms + REACH_MS;
    held->until_ms = x->now.mono_ms + EXPOSE_HOLD_MS;
    if (!x->was_joined && held->until_ms < x->reach_ms)
        held->until_ms = x->reach_ms;
    while (*at)
        at = &(*at)->next;
    *at = held;
}

/* Gives the line of that one, which leaves the list. */
static struct mcpx_text take(struct expose_held **at)
{
    struct expose_held *held = *at;
    struct mcpx_text line = held->line;

    *at = held->next;
    free(held);
    return line;
}

bool expose_held_take(struct expose *x, struct mcpx_text *line)
{
    if (!x->held)
        return false;
    *line = take(&x->held);
    return true;
}

bool expose_unhold(struct expose *x, struct mcpx_slice id, struct mcpx_text *line)
{
    struct expose_held **at = &x->held;

    while (*at && !mcpx_json_same(mcpx_json_get(mcpx_text_view(&(*at)->line), "id"), id))
        at = &(*at)->next;
    if (!*at)
        return false;
    *line = take(at);
    return true;
}

void expose_held_fini(struct expose *x)
{
    struct mcpx_text line;

    while (expose_held_take(x, &line))
        mcpx_text_fini(&line);
}
