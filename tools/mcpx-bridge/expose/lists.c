/*
 * lists.c - the lists of all servers as the client sees them: the servers' bytes, except for names
 * and changes by contract settings. Entries without a name or with two are left out, as are entries
 * that the client may not use.
 */
#include "tools/mcpx-bridge/expose/state.h"

/* True when --only covers the thing and the client may use it, directly or by a proposal. */
static bool is_shown(struct expose *x, enum expose_list list, const struct expose_item *thing)
{
    return expose_only_covers(
               x, thing->participant,
               expose_names_shown(&x->names, expose_lists[list].space, thing)) &&
           expose_find_stage(x, mcpx_slice_of(expose_lists[list].use), thing) !=
               EXPOSE_REFUSED;
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
static void write_items(struct expose *x, const struct expose_items *shelf, bool all,
                        struct mcpx_text *out)
{
    const struct expose_list_row *row = &expose_lists[shelf->list];
    bool has_terms = shelf->list == EXPOSE_TOOLS && x->config.terms &&
                     mcpx_terms_change_lists(x->config.terms->terms);
    mx_scoped_text own = {0};

    x->names.pass = ++x->names.clock;
    MCPX_JSON_EACH(walk, mcpx_text_view(&shelf->items)) {
        struct expose_item thing = {.participant = shelf->seat->id};
        struct mcpx_slice shown;

        mcpx_text_reset(&own);
        if (mcpx_json_count_like(walk.value, row->key) != 1 ||
            !mcpx_json_add_unescaped(&own, mcpx_json_get(walk.value, row->key)))
            continue;
        thing.own = mcpx_text_view(&own);
        if (!(all || is_shown(x, shelf->list, &thing)) ||
            expose_names_put(&x->names, row->space, &thing, &shown) != MCPX_OK)
            continue;
        if (out->len && out->text[out->len - 1] != '[')
            mcpx_text_puts(out, ",");
        if (has_terms)
            write_tool(walk.value, x->config.terms->terms, thing.own, shown, out);
        else if (mcpx_slice_equal(shown, thing.own))
            mcpx_text_slice(out, walk.value);
        else
            bridge_add_with_string(out, walk.value, row->key, shown);
    }
    x->names.pass = 0;
}

/* Appends the shown items and keeps their hash, without the comma in front. */
static void write_shelf(struct expose *x, struct expose_items *shelf, struct mcpx_text *out)
{
    size_t start = out->len;

    write_items(x, shelf, false, out);
    shelf->face = 0;
    shelf->is_stale = false;
    if (start == out->len)
        return;
    start += out->text[start] == ',';
    shelf->face =
        mx_map_hash(x->config.key, (struct mcpx_slice){out->text + start, out->len - start});
}

uint64_t expose_list_face(struct expose *x, enum expose_list list)
{
    mx_scoped_text scratch = {0};
    uint64_t face = 1;

    EXPOSE_EACH_SEAT(seat, &x->catalog) {
        struct expose_items *shelf = &seat->shelves[list];

        mcpx_text_reset(&scratch);
        if (shelf->is_stale)
            write_shelf(x, shelf, &scratch);
        face = shelf->face ? 31 * face + shelf->face : face;
    }
    return face;
}

void expose_list_write(struct expose *x, enum expose_list list, struct mcpx_text *out)
{
    mx_format(out, "{\"%s\":[", expose_lists[list].member);
    EXPOSE_EACH_SEAT(seat, &x->catalog)
        write_shelf(x, &seat->shelves[list], out);
    mcpx_text_puts(out, "]}");
    x->told[list] = expose_list_face(x, list);
}

size_t expose_list_name(struct expose *x, const struct expose_items *shelf)
{
    mx_scoped_text unused = {0};
    size_t left_out = x->names.left_out;

    expose_names_renew(&x->names, expose_lists[shelf->list].space, shelf->seat->id);
    write_items(x, shelf, true, &unused);
    return x->names.left_out - left_out;
}
