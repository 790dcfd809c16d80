/*
 * api_admin.c - lists for administrators: participants and their grants, topics, the policy.
 * Configured participants are sorted, but connected and changed ones are not. So a page of names is
 * picked first, then the data of each name.
 */
#include "lib/json/json_write.h"
#include "lib/protocol/capset.h"
#include "router/api/api.h"
#include <mcpx/json.h>

#include <stdlib.h>

enum {
    PAGE_MAX = 1000,          /* names */
    CONNECTIONS_SHOWN = 64,   /* of one participant */
    BYTES_MAX = 128 * 1024,   /* of a list, exceeded by one participant */
    SHOWN_MAX = 8 * BYTES_MAX /* of a list: no more connections or topics */
};

/* The changes to the participant at `index` of the page, in one topic. */
struct row {
    size_t index;
    const struct change_list *list;
};

/*
 * A page of names, and their changes. It keeps the smallest names: at twice the number wanted, they
 * are sorted and the larger half is dropped. So a page costs one look at each name. Rejected:
 * sorting a hundred thousand names for each page.
 */
struct register_page {
    struct name_page asked;
    struct mcpx_slice names[2 * PAGE_MAX + 2]; /* lent by their owners */
    size_t count;
    bool more; /* there are further names; valid after settle() */
    struct row *rows;
    size_t row_count;
};

static void write_set(struct grant *grant, int64_t wall_ms, struct mcpx_text *out)
{
    const struct mcpx_capset *set = grant->capset;
    struct grant *shown = grant_at(grant, wall_ms);

    if (!shown) {
        out->failed = true;
        return;
    }
    mx_json_add_raw(out, "grants",
                    mcpx_text_view(shown->whole.len ? &shown->whole : &shown->capabilities));
    mx_json_begin_array(out, "deny");
    for (size_t i = 0; i < set->deny_count; i++)
        mx_json_add_item(out, mx_capset_denial(set, i));
    mx_json_end_array(out);
    grant_unref(shown);
}

static void write_entry(const struct tokens_entry *entry, int64_t wall_ms,
                        struct mcpx_text *out)
{
    write_set(entry->grant, wall_ms, out);
    mx_json_begin_array(out, "topics");
    for (size_t i = 0; i < entry->topics.count; i++)
        mx_json_add_item(out, mcpx_slice_of(entry->topics.text[i]));
    mx_json_end_array(out);
    mx_json_add_bool(out, "jwt", entry->by_jwt);
}

static void write_connection(const struct api_call *call, const struct peer *peer,
                             struct mcpx_text *out)
{
    struct connection_origin where;
    char address[ADDRESS_TEXT_SIZE];

    mx_json_begin_object(out, NULL);
    mcpx_json_add_member(out, "id", peer_id(peer));
    mcpx_json_add_member(out, "topic", peer_topic_name(peer));
    mx_json_add_raw(out, "capabilities", mcpx_text_view(&peer_grant(peer)->capabilities));
    if (call->api->origin_of && peer_owner(peer)) {
        call->api->origin_of(peer_owner(peer), &where);
        mcpx_json_add_member(out, "address", mcpx_slice_of(address_text(where.from, address)));
        mx_json_add_time(out, "since", where.since_ms);
    }
    mx_json_end_object(out);
}

/* ---- a page of participants ---- */

static int compare_names(const void *one, const void *other)
{
    const struct mcpx_slice *a = one, *b = other;

    return mcpx_slice_compare(*a, *b);
}

/* Makes `names` and `count` the page, after all were added. */
static void settle(struct register_page *page)
{
    size_t kept = 0;

    qsort(page->names, page->count, sizeof *page->names, compare_names);
    for (size_t i = 0; i < page->count; i++)
        if (kept == 0 || !mcpx_slice_equal(page->names[kept - 1], page->names[i]))
            page->names[kept++] = page->names[i];
    page->more |= kept > page->asked.limit;
    page->count = kept < page->asked.limit ? kept : page->asked.limit;
}

static void add_name(struct register_page *page, struct mcpx_slice name)
{
    if (page->asked.after.text && compare_names(&name, &page->asked.after) <= 0)
        return;
    if (page->count == 2 * page->asked.limit + 2)
        settle(page);
    page->names[page->count++] = name;
}

static size_t find_name(const struct register_page *page, struct mcpx_slice name)
{
    const struct mcpx_slice *found =
        bsearch(&name, page->names, page->count, sizeof *page->names, compare_names);

    return found ? (size_t)(found - page->names) : page->count;
}

static void add_names(const struct api_call *call, struct register_page *page)
{
    const struct tokens *tokens = call->api->config->tokens;
    const struct name_page *asked = &page->asked;
    size_t begin = asked->after.text ? tokens_participants_up_to(tokens, asked->after) : 0;
    const struct changes *changes = call->api->changes;
    const struct tokens_entry *entry;
    const struct peer *peer = NULL;

    for (size_t i = 0;
         i <= asked->limit && (entry = tokens_participant_at(tokens, begin + i)) != NULL; i++)
        add_name(page, entry->name);
    for (size_t i = 0; i < changes->count; i++)
        add_name(page, changes->all[i]->identity);
    while ((peer = hub_peer_after(call->api->hub, peer)) != NULL)
        if (!peer_is_disconnected(peer))
            add_name(page, peer_grant(peer)->identity);
    settle(page);
}

static int compare_rows(const void *one, const void *other)
{
    const struct row *a = one, *b = other;

    return (a->index > b->index) - (a->index < b->index);
}

static bool add_rows(const struct api_call *call, struct register_page *page)
{
    const struct changes *changes = call->api->changes;

    page->rows = calloc(1 + changes->count, sizeof *page->rows);
    if (!page->rows)
        return false;
    for (size_t i = 0; i < changes->count; i++) {
        const struct change_list *list = changes->all[i];
        size_t index = find_name(page, list->identity);

        if (list->count > 0 && index < page->count)
            page->rows[page->row_count++] = (struct row){index, list};
    }
    qsort(page->rows, page->row_count, sizeof *page->rows, compare_rows);
    return true;
}

static void write_connections(const struct api_call *call, struct mcpx_slice name,
                              struct mcpx_text *out)
{
    const struct peer *peer = NULL;
    size_t connections = 0;

    mx_json_begin_array(out, "connections");
    while ((peer = hub_peer_of(call->api->hub, name, peer)) != NULL)
        if (!peer_is_disconnected(peer) && connections++ < CONNECTIONS_SHOWN &&
            out->len < SHOWN_MAX)
            write_connection(call, peer, out);
    mx_json_end_array(out);
    mx_json_add_number(out, "connected", (int64_t)connections);
}

static void write_changed(const struct api_call *call, const struct row *rows, size_t count,
                          struct mcpx_text *out)
{
    size_t shown = 0;

    mx_json_begin_array(out, "changed");
    for (size_t i = 0; i < count && out->len < SHOWN_MAX; i++, shown++) {
        mx_json_begin_object(out, NULL);
        mcpx_json_add_member(out, "topic", rows[i].list->topic);
        api_write_changes(rows[i].list, call->now.wall_ms, out);
        mx_json_end_object(out);
    }
    mx_json_end_array(out);
    if (shown < count)
        mx_json_add_number(out, "left_out", (int64_t)(count - shown));
}

/* Returns the number of names written: the answer ends behind a whole participant. */
static size_t write_page(const struct api_call *call, const struct register_page *page,
                         struct mcpx_text *out)
{
    size_t at = 0, i = 0;

    for (; i < page->count && out->len < BYTES_MAX; i++) {
        struct mcpx_slice name = page->names[i];
        const struct tokens_entry *entry = tokens_find_id(call->api->config->tokens, name);
        size_t begin = at;

        while (at < page->row_count && page->rows[at].index == i)
            at++;
        mx_json_begin_object(out, NULL);
        mcpx_json_add_member(out, "id", name);
        if (entry) {
            mx_json_begin_object(out, "configured");
            write_entry(entry, call->now.wall_ms, out);
            mx_json_end_object(out);
        }
        write_connections(call, name, out);
        write_changed(call, page->rows + begin, at - begin, out);
        mx_json_end_object(out);
    }
    return i;
}

static void answer_participants(const struct api_call *call, struct http_reply *reply)
{
    struct register_page *page = calloc(1, sizeof *page);
    struct mcpx_slice last = {NULL, 0};
    size_t told;

    if (page) {
        page->asked = api_page(call);
        add_names(call, page);
    }
    if (page && add_rows(call, page)) {
        mx_json_begin_object(&reply->body, NULL);
        mx_json_begin_array(&reply->body, "participants");
        told = write_page(call, page, &reply->body);
        mx_json_end_array(&reply->body);
        if (told > 0 && (page->more || told < page->count))
            last = page->names[told - 1];
        api_page_end(last, &reply->body);
        free(page->rows);
    } else {
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
    }
    free(page);
}

/* ---- topics ---- */

static void answer_topics(const struct api_call *call, struct http_reply *reply)
{
    const struct name_page page = api_page(call);
    const struct topic *topic = hub_topic_after(call->api->hub, page.after);
    struct mcpx_text *out = &reply->body;
    struct mcpx_slice last = {NULL, 0};
    size_t told = 0;

    mx_json_begin_object(out, NULL);
    mx_json_begin_array(out, "topics");
    for (; topic && told < page.limit; topic = topic_following(topic), told++) {
        last = topic_name(topic);
        mx_json_begin_object(out, NULL);
        mcpx_json_add_member(out, "name", last);
        mx_json_add_number(out, "participants", (int64_t)topic_participants(topic));
        mx_json_end_object(out);
    }
    mx_json_end_array(out);
    api_page_end(topic ? last : (struct mcpx_slice){NULL, 0}, out);
}

/* ---- the policy ---- */

static void write_profiles(const struct api_call *call, struct mcpx_text *out)
{
    const struct tokens *tokens = call->api->config->tokens;
    const struct tokens_entry *entry;
    size_t i = 0, shown;

    mx_json_begin_array(out, "profiles");
    for (; out->len < SHOWN_MAX && (entry = tokens_profile_at(tokens, i)) != NULL; i++) {
        mx_json_begin_object(out, NULL);
        mcpx_json_add_member(out, "name", entry->name);
        write_set(entry->grant, call->now.wall_ms, out);
        mx_json_end_object(out);
    }
    mx_json_end_array(out);
    for (shown = i; tokens_profile_at(tokens, i); i++)
        ;
    if (i > shown)
        mx_json_add_number(out, "profiles_left_out", (int64_t)(i - shown));
}

/* The first page alone has profiles. */
static void answer_policy(const struct api_call *call, struct http_reply *reply)
{
    const struct tokens *tokens = call->api->config->tokens;
    const struct name_page page = api_page(call);
    struct mcpx_text *out = &reply->body;
    struct mcpx_slice last = {NULL, 0};
    const struct tokens_entry *entry;
    size_t begin = page.after.text ? tokens_participants_up_to(tokens, page.after) : 0;
    size_t from, told = 0;

    mx_json_begin_object(out, NULL);
    mcpx_json_add_member(out, "rev", mcpx_slice_of(call->api->config->rev));
    if (!page.after.text)
        write_profiles(call, out);
    mx_json_begin_array(out, "participants");
    from = out->len;
    for (; told < page.limit && out->len - from < BYTES_MAX &&
           (entry = tokens_participant_at(tokens, begin + told)) != NULL;
         told++) {
        last = entry->name;
        mx_json_begin_object(out, NULL);
        mcpx_json_add_member(out, "id", last);
        write_entry(entry, call->now.wall_ms, out);
        mx_json_end_object(out);
    }
    mx_json_end_array(out);
    if (!tokens_participant_at(tokens, begin + told))
        last = (struct mcpx_slice){NULL, 0};
    api_page_end(last, out);
}

/* A reload takes time: the owner of the connection answers when it is done. */
static void ask_for_reload(const struct api_call *call, struct http_reply *reply)
{
    reply->err = MCPX_EOPENING;
    reply->reload = true;
    mcpx_text_slice(&reply->detail, call->grant->identity);
}

const struct api_route api_admin_routes[] = {
    {HTTP_GET, "/admin/participants", "participants", .handle = answer_participants,
     .access = ACCESS_TOKEN, .needs = "admin/read", .query = api_page_params},
    {HTTP_GET, "/admin/topics", "all topics", .handle = answer_topics, .access = ACCESS_TOKEN,
     .needs = "admin/read", .query = api_page_params},
    {HTTP_GET, "/admin/policy", "configured policy", .handle = answer_policy,
     .access = ACCESS_TOKEN, .needs = "admin/read", .query = api_page_params},
    {HTTP_POST, "/admin/reload", "reads the configuration again", .handle = ask_for_reload,
     .access = ACCESS_TOKEN, .needs = "admin/reload"},
    {.path = NULL},
};
