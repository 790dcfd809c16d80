/*
 * catalog.c - lists are kept as the text of their items, never as values: the client gets a
 * server's own text about its tools, unknown members included. Only a complete new list replaces a
 * list, so a missing page leaves the old list in place.
 */
#define _GNU_SOURCE /* memmem */
#include "tools/mcpx-bridge/expose/servers/catalog.h"

#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/bridge.h"

#include <mcpx/envelope.h>
#include <mcpx/schema.h>

#include <stdlib.h>

const struct expose_list_row expose_lists[EXPOSE_LIST_COUNT] = {
    [EXPOSE_TOOLS] = {"tools/list", "tools", "name", EXPOSE_TOOL_NAME, "tools/call", "tools",
                      "notifications/tools/list_changed"},
    [EXPOSE_RESOURCES] = {"resources/list", "resources", "uri", EXPOSE_URI, "resources/read",
                          "resources", "notifications/resources/list_changed"},
    [EXPOSE_TEMPLATES] = {"resources/templates/list", "resourceTemplates", "uriTemplate",
                          EXPOSE_URI_TEMPLATE, "resources/read", "resources",
                          "notifications/resources/list_changed"},
    [EXPOSE_PROMPTS] = {"prompts/list", "prompts", "name", EXPOSE_PROMPT_NAME, "prompts/get",
                        "prompts", "notifications/prompts/list_changed"},
};

void expose_catalog_fini(struct expose_catalog *catalog)
{
    while (catalog->count)
        expose_catalog_remove(catalog, catalog->participants[catalog->count - 1]);
    free(catalog->participants);
    mx_holders_fini(&catalog->lists);
    *catalog = (struct expose_catalog){0};
}

/* Index of the participant, or of the place for it. */
static size_t place(const struct expose_catalog *catalog, struct mcpx_slice id)
{
    size_t low = 0, high = catalog->count, row;

    MX_SEARCH(low, high, row, mcpx_slice_compare(catalog->participants[row]->id, id) < 0);
    return low;
}

struct expose_participant *expose_catalog_find(const struct expose_catalog *catalog,
                                               struct mcpx_slice id)
{
    size_t at = place(catalog, id);

    if (at == catalog->count || !mcpx_slice_equal(catalog->participants[at]->id, id))
        return NULL;
    return catalog->participants[at];
}

struct expose_participant *expose_catalog_add(struct expose_catalog *catalog,
                                              struct mcpx_slice id)
{
    size_t at = place(catalog, id);
    char *behind;
    struct expose_participant *participant = bridge_room(sizeof *participant, id.len, &behind);

    participant->id = mx_keep(&behind, id);
    for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++) {
        participant->lists[i].owner = participant;
        participant->lists[i].list = (enum expose_list)i;
    }
    mx_make_room(&catalog->participants, catalog->count, &catalog->size,
                 sizeof(struct expose_participant *));
    memmove(catalog->participants + at + 1, catalog->participants + at,
            (catalog->count - at) * sizeof *catalog->participants);
    catalog->participants[at] = participant;
    catalog->count++;
    return participant;
}

/* ---- bytes ---- */

static struct mcpx_slice owner_of(const struct expose_items *items)
{
    return mcpx_identity_of(items->owner->id);
}

static void account(struct expose_catalog *catalog, struct expose_items *items)
{
    size_t whole = items->text.len, pages = items->pages.len;
    size_t now = whole > pages ? whole : pages, before = items->held;

    if (now > before)
        mx_holders_add(&catalog->lists, owner_of(items), now - before);
    else if (now < before)
        mx_holders_remove(&catalog->lists, owner_of(items), before - now);
    items->held = now;
}

enum mx_sharing expose_catalog_ask(const struct expose_catalog *catalog,
                                   const struct expose_items *items, size_t bytes)
{
    size_t wanted = items->pages.len + bytes, held = items->held;

    return mx_holders_ask(&catalog->lists, owner_of(items), wanted > held ? wanted - held : 0);
}

struct expose_items *expose_catalog_largest(const struct expose_catalog *catalog)
{
    struct mcpx_slice owner = mx_holders_largest(&catalog->lists);
    struct expose_items *largest = NULL;

    EXPOSE_EACH_PARTICIPANT(participant, catalog)
        for (size_t i = 0; owner.len && i < EXPOSE_LIST_COUNT; i++) {
            struct expose_items *items = &participant->lists[i];

            if (mcpx_slice_equal(owner_of(items), owner) &&
                (!largest || items->held > largest->held))
                largest = items;
        }
    return largest;
}

void expose_catalog_drop(struct expose_catalog *catalog, struct expose_items *items,
                         bool whole)
{
    mcpx_text_fini(&items->pages);
    if (whole) {
        items->is_known = false;
        mcpx_text_fini(&items->text);
        mcpx_tools_free(items->tools);
        items->tools = NULL;
        items->is_stale = true;
    }
    items->page_count = 0;
    items->is_open = false;
    account(catalog, items);
}

/* Replaces the list by the collected pages. */
static void turn_whole(struct expose_catalog *catalog, struct expose_items *items)
{
    struct mcpx_text pages = items->pages;

    items->is_blamed = false;
    if (items->is_known &&
        mcpx_slice_equal(mcpx_text_view(&pages), mcpx_text_view(&items->text))) {
        expose_catalog_drop(catalog, items, false);
        return;
    }
    items->pages = (struct mcpx_text){0};
    expose_catalog_drop(catalog, items, true);
    items->text = pages;
    items->is_known = true;
}

/* ---- entries that clients accept ---- */

enum {
    TOOLS = 1 << EXPOSE_TOOLS,
    RESOURCES = 1 << EXPOSE_RESOURCES | 1 << EXPOSE_TEMPLATES,
    ALL = TOOLS | RESOURCES | 1 << EXPOSE_PROMPTS,
    REFERRING_MAX = 16384 /* longest schema, in bytes, with references checked */
};

/* Optional members of entries, with their types and lists. */
static const struct {
    const char *name;
    enum mcpx_json_type type;
    unsigned lists;
} optional[] = {{"title", MCPX_JSON_STRING, ALL},
                {"description", MCPX_JSON_STRING, ALL},
                {"icons", MCPX_JSON_ARRAY, ALL},
                {"_meta", MCPX_JSON_OBJECT, ALL},
                {"annotations", MCPX_JSON_OBJECT, TOOLS | RESOURCES},
                {"outputSchema", MCPX_JSON_OBJECT, TOOLS},
                {"execution", MCPX_JSON_OBJECT, TOOLS},
                {"mimeType", MCPX_JSON_STRING, RESOURCES},
                {"size", MCPX_JSON_NUMBER, RESOURCES},
                {"arguments", MCPX_JSON_ARRAY, 1 << EXPOSE_PROMPTS}};

static bool is_schema_of_object(struct mcpx_slice schema)
{
    struct mcpx_slice properties = mcpx_json_get(schema, "properties");
    bool fits = mcpx_json_equals(mcpx_json_get(schema, "type"), MCPX_SLICE("object")) &&
                (!properties.text || mcpx_json_type(properties) == MCPX_JSON_OBJECT);

    MCPX_JSON_EACH_WHILE(fits, walk, properties)
        fits = mcpx_json_type(walk.value) == MCPX_JSON_OBJECT;
    return fits;
}

/* True for a schema with a dangling reference: clients compile it when they read the list. */
static bool refers_nowhere(struct mcpx_slice schema)
{
    struct mcpx_schema_report report = {0};
    struct mcpx_schema *compiled = NULL;
    struct mcpx_shelf *shelf;
    bool found = false;

    if (schema.len > REFERRING_MAX || !memmem(schema.text, schema.len, "\"$ref\"", 6))
        return false;
    shelf = mcpx_shelf_new();
    memory_checked(mcpx_schema_compile(shelf, schema, NULL, &report, &compiled));
    mcpx_schema_unref(compiled);
    for (size_t i = 0; !compiled && i < report.count; i++)
        found |= bridge_is(report.errors[i].keyword, "$ref");
    mcpx_schema_report_fini(&report);
    mcpx_shelf_free(shelf);
    return found;
}

/* The reason why an entry is left out; NULL: it is not. */
static const char *fault_of(enum expose_list list, struct mcpx_slice item)
{
    struct mcpx_slice key = mcpx_json_get(item, expose_lists[list].key);
    struct mcpx_slice input = mcpx_json_get(item, "inputSchema");

    if (mcpx_json_type(key) != MCPX_JSON_STRING || key.len == 2)
        return "it has no name";
    if (mcpx_json_type(mcpx_json_get(item, "name")) != MCPX_JSON_STRING)
        return "its name is not text";
    if (list == EXPOSE_TOOLS &&
        (mcpx_json_type(input) != MCPX_JSON_OBJECT || !is_schema_of_object(input)))
        return "its inputSchema is not a schema of an object";
    return NULL;
}

/* Finds the optional members that are not valid; returns their number. */
static size_t find_odd(enum expose_list list, struct mcpx_slice item,
                       struct mcpx_json_change odd[sizeof optional / sizeof *optional])
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        struct mcpx_slice value = mcpx_json_get(item, optional[i].name);
        bool is_output = strcmp(optional[i].name, "outputSchema") == 0;

        if (!value.text || !(optional[i].lists >> list & 1))
            continue;
        if (mcpx_json_type(value) != optional[i].type ||
            (is_output && (!is_schema_of_object(value) || refers_nowhere(value))))
            odd[count++] = (struct mcpx_json_change){.name = optional[i].name};
    }
    return count;
}

/* Appends an entry as clients accept it, or nothing; notes changes in `unfit`. */
static void add_fit(enum expose_list list, struct mcpx_slice item, struct mcpx_text *out,
                    struct expose_unfit *unfit)
{
    struct mcpx_json_change odd[sizeof optional / sizeof *optional];
    const char *fault = fault_of(list, item);
    size_t count = fault ? 0 : find_odd(list, item, odd);

    if (!fault) {
        mcpx_text_puts(out, out->len ? "," : "[");
        mcpx_json_add_changed(out, item, odd, count);
    }
    if ((!fault && !count) || unfit->count++ > 0)
        return;
    if (!mcpx_json_add_unescaped(&unfit->first, mcpx_json_get(item, expose_lists[list].key)))
        mcpx_text_puts(&unfit->first, "one");
    if (fault)
        mx_format(&unfit->first, ": %s, so the bridge drops the entry", fault);
    else
        mx_format(&unfit->first, ": its %s is not valid, so the bridge drops it", odd[0].name);
}

/* ---- pages ---- */

/* Finds a cycle by Brent's method: one cursor is kept, and replaced at each power of two. */
static bool is_last_cursor(const struct expose_catalog *catalog, struct expose_items *items,
                           struct mcpx_slice cursor)
{
    uint64_t hash = mx_map_hash(catalog->lists.key, cursor);
    bool is_last = mcpx_json_type(cursor) != MCPX_JSON_STRING || cursor.len == 2 ||
                   (items->page_count > 0 && hash == items->cursor);

    if ((items->page_count & (items->page_count + 1)) == 0)
        items->cursor = hash;
    return is_last;
}

bool expose_catalog_add_page(struct expose_catalog *catalog, struct expose_items *items,
                             struct mcpx_slice result, struct expose_unfit *unfit,
                             struct mcpx_slice *cursor)
{
    struct mcpx_slice next = mcpx_json_get(result, "nextCursor");
    struct mcpx_slice entries = mcpx_json_get(result, expose_lists[items->list].member);
    bool is_last;

    if (mcpx_json_type(entries) != MCPX_JSON_ARRAY)
        return false;
    is_last = is_last_cursor(catalog, items, next);
    MCPX_JSON_EACH(walk, entries)
        add_fit(items->list, walk.value, &items->pages, unfit);
    if (is_last && items->pages.len)
        mcpx_text_puts(&items->pages, "]");
    account(catalog, items);
    items->page_count++;
    *cursor = is_last ? (struct mcpx_slice){0} : next;
    if (is_last)
        turn_whole(catalog, items);
    account(catalog, items);
    return true;
}

void expose_catalog_remove(struct expose_catalog *catalog,
                           struct expose_participant *participant)
{
    size_t at = place(catalog, participant->id);

    memmove(catalog->participants + at, catalog->participants + at + 1,
            (catalog->count - at - 1) * sizeof *catalog->participants);
    catalog->count--;
    for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++)
        expose_catalog_drop(catalog, &participant->lists[i], true);
    mcpx_text_fini(&participant->hello);
    free(participant);
}

struct mcpx_slice expose_participant_capability(const struct expose_participant *participant,
                                                const char *name)
{
    struct mcpx_slice capabilities =
        mcpx_json_get(mcpx_text_view(&participant->hello), "capabilities");

    return mcpx_json_get(capabilities, name);
}
