/*
 * lists.c - the lists of all servers as the client sees them: the servers' bytes, except for names
 * and changes by contract settings. Entries without a name or with two are left out, as are entries
 * that the client may not use.
 */
#include "tools/mcpx-bridge/expose/state.h"

/* True when --only covers the item and the client may use it, directly or by a proposal. */
static bool is_shown(struct expose *x, enum expose_list list, const struct expose_item *item)
{
    struct mcpx_slice shown = expose_names_shown(&x->names, expose_lists[list].space, item);

    return expose_only_covers(x, item->participant, shown) &&
           !expose_room_has(x, list, shown) &&
           expose_find_stage(x, mcpx_slice_of(expose_lists[list].use), item) != EXPOSE_REFUSED;
}

/* Appends a tool as contract settings show it, under its shown name. */
static void write_tool(struct mcpx_slice item, const struct mcpx_terms *terms,
                       struct mcpx_slice own, struct mcpx_slice shown, struct mcpx_text *out)
{
    mx_scoped_text named = {0};

    bridge_add_with_string(&named, item, "name", shown);
    mcpx_terms_tool_add(out, terms, own, mcpx_text_view(&named));
}

/* Appends the shown items of a list. `all`: hidden items as well, to give them names. */
static void write_items(struct expose *x, const struct expose_items *items, bool all,
                        struct mcpx_text *out)
{
    const struct expose_list_row *row = &expose_lists[items->list];
    bool has_terms = items->list == EXPOSE_TOOLS && x->config.terms &&
                     mcpx_terms_change_lists(x->config.terms->terms);
    mx_scoped_text own = {0};

    x->names.pass = ++x->names.clock;
    MCPX_JSON_EACH(walk, mcpx_text_view(&items->text)) {
        struct expose_item item = {.participant = items->owner->id};
        struct mcpx_slice shown;

        mcpx_text_reset(&own);
        if (mcpx_json_count_like(walk.value, row->key) != 1 ||
            !mcpx_json_add_unescaped(&own, mcpx_json_get(walk.value, row->key)))
            continue;
        item.own = mcpx_text_view(&own);
        if (!(all || is_shown(x, items->list, &item)) ||
            expose_names_put(&x->names, row->space, &item, &shown) != MCPX_OK)
            continue;
        if (out->len && out->text[out->len - 1] != '[')
            mcpx_text_puts(out, ",");
        if (has_terms)
            write_tool(walk.value, x->config.terms->terms, item.own, shown, out);
        else if (mcpx_slice_equal(shown, item.own))
            mcpx_text_slice(out, walk.value);
        else
            bridge_add_with_string(out, walk.value, row->key, shown);
    }
    x->names.pass = 0;
}

/* Appends the shown items and keeps their hash, without the comma in front. */
static void write_list(struct expose *x, struct expose_items *items, struct mcpx_text *out)
{
    size_t start = out->len;

    write_items(x, items, false, out);
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
    uint64_t hash = expose_room_hash(x, list);

    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        struct expose_items *items = &participant->lists[list];

        mcpx_text_reset(&scratch);
        if (items->is_stale)
            write_list(x, items, &scratch);
        hash = items->shown_hash ? 31 * hash + items->shown_hash : hash;
    }
    return hash;
}

void expose_list_write(struct expose *x, enum expose_list list, struct mcpx_text *out)
{
    mx_format(out, "{\"%s\":[", expose_lists[list].member);
    expose_room_list(x, list, out);
    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog)
        write_list(x, &participant->lists[list], out);
    mcpx_text_puts(out, "]}");
    x->told[list] = expose_list_hash(x, list);
}

size_t expose_list_name(struct expose *x, const struct expose_items *items)
{
    mx_scoped_text unused = {0};
    size_t left_out = x->names.left_out;

    expose_names_renew(&x->names, expose_lists[items->list].space, items->owner->id);
    write_items(x, items, true, &unused);
    return x->names.left_out - left_out;
}
