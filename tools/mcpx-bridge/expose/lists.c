/*
 * lists.c - the lists of all servers as the client sees them: the servers' bytes, except for names
 * and changes by contract settings. Entries without a name or with two are left out, as are entries
 * that the client may not use.
 */
#include "tools/mcpx-bridge/expose/state.h"

/* True when --only covers the item and the client may use it, directly or by a proposal. */
static bool is_shown(struct expose *x, enum expose_list list, const struct expose_item *item,
                     struct mcpx_slice shown)
{
    return expose_only_covers(x, item->participant, shown) &&
           !expose_room_has(x, list, shown) &&
           expose_find_stage(x, mcpx_slice_of(expose_lists[list].use), item) != EXPOSE_REFUSED;
}

/* A tool that needs an approval may be a task, of ours, even if its server says "forbidden". */
static struct mcpx_slice offer_task(struct expose *x, const struct expose_item *item,
                                    struct mcpx_slice tool, struct mcpx_text *out)
{
    struct mcpx_slice execution = mcpx_json_get(tool, "execution");
    mx_scoped_text offer = {0};

    if (bridge_is(mcpx_json_get(execution, "taskSupport"), "\"required\"") ||
        expose_find_stage(x, MCPX_SLICE("tools/call"), item) != EXPOSE_PROPOSED)
        return tool;
    bridge_add_with_string(&offer, execution, "taskSupport", MCPX_SLICE("optional"));
    bridge_add_with(out, tool, "execution", &offer);
    return mcpx_text_view(out);
}

/* Gives names to the items of a list, and appends those that are shown; `out` NULL: none. */
static void write_items(struct expose *x, const struct expose_items *items,
                        struct mcpx_text *out)
{
    const struct expose_list_row *row = &expose_lists[items->list];
    bool has_terms = items->list == EXPOSE_TOOLS && x->config.terms &&
                     mcpx_terms_change_lists(x->config.terms->terms);
    mx_scoped_text own = {0};

    x->names.pass = ++x->names.clock;
    MCPX_JSON_EACH(walk, mcpx_text_view(&items->text)) {
        struct expose_item item = {.participant = items->owner->id};
        struct mcpx_slice shown, value = walk.value;
        mx_scoped_text named = {0}, offered = {0};

        mcpx_text_reset(&own);
        if (mcpx_json_count_like(walk.value, row->key) != 1 ||
            !mcpx_json_add_unescaped(&own, mcpx_json_get(walk.value, row->key)))
            continue;
        item.own = mcpx_text_view(&own);
        if (expose_names_put(&x->names, row->space, &item, &shown) != MCPX_OK || !out ||
            !is_shown(x, items->list, &item, shown))
            continue;
        if (out->len && out->text[out->len - 1] != '[')
            mcpx_text_puts(out, ",");
        if (!mcpx_slice_equal(shown, item.own)) {
            bridge_add_with_string(&named, value, row->key, shown);
            value = mcpx_text_view(&named);
        }
        if (x->client.has_tasks && items->list == EXPOSE_TOOLS)
            value = offer_task(x, &item, value, &offered);
        if (has_terms)
            mcpx_terms_tool_add(out, x->config.terms->terms, item.own, value);
        else
            mcpx_text_slice(out, value);
    }
    x->names.pass = 0;
}

/* Appends the shown items and keeps their hash, without the comma in front. */
static void write_list(struct expose *x, struct expose_items *items, struct mcpx_text *out)
{
    size_t start = out->len;

    write_items(x, items, out);
    items->shown_hash = 0;
    items->is_stale = false;
    if (start == out->len)
        return;
    start += out->text[start] == ',';
    items->shown_hash =
        mx_map_hash(x->config.key, (struct mcpx_slice){out->text + start, out->len - start});
}

uint64_t expose_list_hash(struct expose *x, enum expose_list list)
{
    mx_scoped_text scratch = {0};
    uint64_t hash;

    expose_room_list(x, list, &scratch);
    hash = scratch.len ? mx_map_hash(x->config.key, mcpx_text_view(&scratch)) : 1;
    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        struct expose_items *items = &participant->lists[list];

        mcpx_text_reset(&scratch);
        if (items->is_stale)
            write_list(x, items, &scratch);
        if (items->shown_hash && !expose_is_hidden(x, list))
            hash = 31 * hash + items->shown_hash;
    }
    return hash;
}

void expose_list_add(struct expose *x, enum expose_list list, struct mcpx_text *out)
{
    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog)
        write_list(x, &participant->lists[list], out);
}

void expose_list_write(struct expose *x, enum expose_list list, struct mcpx_text *out)
{
    mx_format(out, "{\"%s\":[", expose_lists[list].member);
    expose_room_list(x, list, out);
    if (!expose_is_hidden(x, list))
        expose_list_add(x, list, out);
    mcpx_text_puts(out, "]}");
    x->told[list] = expose_list_hash(x, list);
}

size_t expose_list_name(struct expose *x, const struct expose_items *items)
{
    size_t left_out = x->names.left_out;

    expose_names_renew(&x->names, expose_lists[items->list].space, items->owner->id);
    write_items(x, items, NULL);
    return x->names.left_out - left_out;
}
