/*
 * names.c - rows of (space, participant, own name, shown name) in two hash tables, one for
 * each direction, and in one list per participant and space, which is what bounds them: nobody
 * takes the room of others. Rows stay for a while when their owner leaves, so a tool that comes
 * back has the name it had. A name that could be split again ("participant, two underscores, tool")
 * was refused: ids may hold any character, two pairs can meet in one name, and whoever may choose
 * an id would choose whose calls it gets.
 */
#include "tools/mcpx-bridge/expose/names.h"

#include "lib/core/percent.h"
#include "tools/mcpx-bridge/expose/uri.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MARK_LEN = 9 }; /* "_" and eight hexadecimal digits */

struct expose_name {
    struct expose_name *next; /* of the same owner and space, newer */
    struct expose_owner *owner;
    enum expose_space space;
    uint64_t pair;    /* keyed hash of participant and own */
    uint64_t face;    /* keyed hash of shown */
    uint64_t renewed; /* the list's, when it was listed last */
    struct mcpx_text own;
    struct mcpx_text shown;
};

/* One participant's names in one space. */
struct list {
    struct expose_name *first, *last;
    size_t count;
    uint64_t renewed;
    bool is_swept; /* since then */
};

struct expose_owner {
    struct expose_owner *next;
    struct mcpx_text participant;
    uint64_t left; /* when; 0 = it is here */
    size_t count;
    struct list lists[EXPOSE_SPACE_COUNT];
};

/* FNV-1a */
static uint64_t hash_more(uint64_t hash, struct mcpx_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t expose_hash(struct mcpx_slice text)
{
    return hash_more(UINT64_C(0xcbf29ce484222325), text);
}

/* Where a thing is found. Who chooses names does not know the key, so cannot make them collide. */
static uint64_t hash_pair(const struct expose_names *names, const struct expose_thing *thing)
{
    return 3 * mx_map_hash(names->key, thing->participant) +
           mx_map_hash(names->key, thing->own);
}

static bool is_owner(const struct expose_owner *owner, struct mcpx_slice participant)
{
    return mcpx_slice_equal(mcpx_text_view(&owner->participant), participant);
}

/* ---- rows in their tables ---- */

static struct expose_name *next_row(const struct mx_map *map, uint64_t hash, size_t *at)
{
    return (struct expose_name *)(uintptr_t)mx_map_next(map, hash, at);
}

static struct expose_name *find_face(const struct expose_names *names, enum expose_space space,
                                     struct mcpx_slice shown)
{
    uint64_t face = mx_map_hash(names->key, shown);
    struct expose_name *row;
    size_t at = 0;

    while ((row = next_row(&names->faces, face, &at)))
        if (row->space == space && mcpx_slice_equal(mcpx_text_view(&row->shown), shown))
            break;
    return row;
}

static struct expose_name *find_pair(const struct expose_names *names, enum expose_space space,
                                     const struct expose_thing *thing)
{
    uint64_t pair = hash_pair(names, thing);
    struct expose_name *row;
    size_t at = 0;

    while ((row = next_row(&names->pairs, pair, &at)))
        if (row->space == space && mcpx_slice_equal(mcpx_text_view(&row->own), thing->own) &&
            is_owner(row->owner, thing->participant))
            break;
    return row;
}

static void append(struct list *list, struct expose_name *row)
{
    row->next = NULL;
    *(list->last ? &list->last->next : &list->first) = row;
    list->last = row;
}

static void row_free(struct expose_name *row)
{
    mcpx_text_fini(&row->own);
    mcpx_text_fini(&row->shown);
    free(row);
}

/* Forgets a name that is no longer in its list. */
static void forget_row(struct expose_names *names, struct expose_name *row)
{
    struct expose_owner *owner = row->owner;

    mx_map_remove(&names->pairs, row->pair, (uintptr_t)row);
    mx_map_remove(&names->faces, row->face, (uintptr_t)row);
    owner->lists[row->space].count--;
    owner->count--;
    names->count--;
    names->gone -= owner->left ? 1 : 0;
    row_free(row);
}

/* Forgets the names of a list that were not listed since, or with `all` every one. */
static void sweep(struct expose_names *names, struct list *list, bool all)
{
    struct expose_name *row = list->first;

    list->first = list->last = NULL;
    while (row) {
        struct expose_name *next = row->next;

        if (!all && row->renewed == list->renewed)
            append(list, row);
        else
            forget_row(names, row);
        row = next;
    }
}

static void drop_oldest(struct expose_names *names, struct list *list)
{
    struct expose_name *row = list->first;

    list->first = row->next;
    if (!list->first)
        list->last = NULL;
    forget_row(names, row);
}

/* ---- owners ---- */

static struct expose_owner *find_owner(struct expose_names *names,
                                       struct mcpx_slice participant)
{
    struct expose_owner **at = &names->owners;
    struct expose_owner *owner;

    while (*at && !is_owner(*at, participant))
        at = &(*at)->next;
    owner = *at;
    if (!owner)
        return NULL;
    *at = owner->next;
    owner->next = names->owners;
    names->owners = owner;
    return owner;
}

static struct expose_owner *make_owner(struct expose_names *names,
                                       struct mcpx_slice participant)
{
    struct expose_owner *owner = find_owner(names, participant);

    if (owner)
        return owner;
    owner = calloc(1, sizeof *owner);
    if (!owner)
        return NULL;
    mcpx_text_slice(&owner->participant, participant);
    if (owner->participant.failed) {
        free(owner);
        return NULL;
    }
    owner->next = names->owners;
    names->owners = owner;
    return owner;
}

static void free_owner(struct expose_names *names, struct expose_owner *owner)
{
    struct expose_owner **at = &names->owners;

    for (size_t i = 0; i < EXPOSE_SPACE_COUNT; i++)
        sweep(names, &owner->lists[i], true);
    while (*at != owner)
        at = &(*at)->next;
    *at = owner->next;
    mcpx_text_fini(&owner->participant);
    free(owner);
}

static void is_back(struct expose_names *names, struct expose_owner *owner)
{
    if (owner->left)
        names->gone -= owner->count;
    owner->left = 0;
}

void expose_names_left(struct expose_names *names, struct mcpx_slice participant)
{
    struct expose_owner *owner = find_owner(names, participant);

    if (!owner || owner->left)
        return;
    owner->left = ++names->clock;
    names->gone += owner->count;
    if (owner->count == 0)
        free_owner(names, owner);
    while (names->gone > EXPOSE_NAMES_OF_GONE_MAX) {
        struct expose_owner *first = NULL;

        for (owner = names->owners; owner; owner = owner->next)
            if (owner->left && (!first || owner->left < first->left))
                first = owner;
        if (!first)
            return;
        free_owner(names, first);
    }
}

void expose_names_fini(struct expose_names *names)
{
    while (names->owners)
        free_owner(names, names->owners);
    mx_map_fini(&names->pairs);
    mx_map_fini(&names->faces);
    *names = (struct expose_names){
        .key = names->key, .plain = names->plain, .recycles = names->recycles};
}

void expose_names_renew(struct expose_names *names, enum expose_space space,
                        struct mcpx_slice participant)
{
    struct expose_owner *owner = find_owner(names, participant);

    if (!owner)
        return;
    owner->lists[space].renewed = ++names->clock;
    owner->lists[space].is_swept = false;
}

void expose_names_touch(struct expose_names *names, enum expose_space space,
                        const struct expose_thing *thing)
{
    struct expose_name *row = find_pair(names, space, thing);

    if (row)
        row->renewed = row->owner->lists[space].renewed;
}

/* ---- what a thing is called ---- */

bool expose_names_may_hold(char byte)
{
    return mx_percent_is_unreserved(byte) && byte != '~';
}

/* Appends with "_" for what a name may not hold; true when something was replaced. */
static bool add_clean(struct mcpx_text *out, struct mcpx_slice text)
{
    bool changed = false;

    for (size_t i = 0; i < text.len; i++) {
        bool fits = expose_names_may_hold(text.text[i]);

        mcpx_text_add(out, fits ? text.text + i : "_", 1);
        changed |= !fits;
    }
    return changed;
}

/* With such an id, the first "__" of a name does not end the id. */
static bool is_ambiguous(struct mcpx_slice participant)
{
    for (size_t i = 0; i + 1 < participant.len; i++)
        if (participant.text[i] == '_' && participant.text[i + 1] == '_')
            return true;
    return participant.len == 0 || participant.text[participant.len - 1] == '_';
}

/* It ends like a mark, so it could be another pair's name. */
static bool is_marked(struct mcpx_slice own)
{
    const char *mark = own.text + own.len - MARK_LEN;

    if (own.len < MARK_LEN || mark[0] != '_')
        return false;
    for (size_t i = 1; i < MARK_LEN; i++)
        if (!((mark[i] >= '0' && mark[i] <= '9') || (mark[i] >= 'a' && mark[i] <= 'f')))
            return false;
    return true;
}

static void add_mark(struct mcpx_text *out, uint64_t hash)
{
    char mark[MARK_LEN + 1];

    if (out->failed)
        return;
    if (out->len > EXPOSE_NAME_MAX - MARK_LEN)
        out->len = EXPOSE_NAME_MAX - MARK_LEN;
    snprintf(mark, sizeof mark, "_%08" PRIx32, (uint32_t)(hash ^ (hash >> 32)));
    mcpx_text_puts(out, mark);
}

/* The mark of a pair is the same in every run, or a client would not know the tool again. */
static uint64_t hash_for_mark(const struct expose_thing *thing)
{
    uint64_t hash = hash_more(expose_hash(thing->participant), (struct mcpx_slice){"", 1});

    return hash_more(hash, thing->own);
}

static void write_prefixed(const struct expose_names *names, enum expose_space space,
                           const struct expose_thing *thing, struct mcpx_text *out)
{
    uint64_t hash = hash_for_mark(thing);
    bool mark = is_ambiguous(thing->participant) || is_marked(thing->own);
    size_t whole;

    mark |= add_clean(out, thing->participant);
    mcpx_text_puts(out, "__");
    mark |= add_clean(out, thing->own);
    whole = out->len;
    if (mark || whole > EXPOSE_NAME_MAX)
        add_mark(out, hash);
    while (!out->failed && find_face(names, space, mcpx_text_view(out))) {
        out->len = whole < out->len ? whole : out->len;
        hash = hash_more(hash, MCPX_SLICE("again"));
        add_mark(out, hash);
    }
}

static void write_shown(const struct expose_names *names, enum expose_space space,
                        const struct expose_thing *thing, struct mcpx_text *out)
{
    bool is_uri = space != EXPOSE_TOOL_NAME && space != EXPOSE_PROMPT_NAME;
    bool as_it_is =
        is_uri ? !expose_uri_is_wrapped(thing->own) : names->plain && !is_marked(thing->own);

    if (as_it_is && !find_face(names, space, thing->own))
        mcpx_text_slice(out, thing->own);
    else if (is_uri)
        expose_uri_wrap(out, thing->participant, thing->own, space == EXPOSE_URI_TEMPLATE);
    else
        write_prefixed(names, space, thing, out);
}

/* ---- asked from outside ---- */

static enum mcpx_err make_room(struct expose_names *names, struct expose_owner *owner,
                               enum expose_space space)
{
    struct list *list = &owner->lists[space];

    if (!mx_map_reserve(&names->pairs) || !mx_map_reserve(&names->faces))
        return MCPX_ENOMEM;
    if (list->count < EXPOSE_NAMES_MAX)
        return MCPX_OK;
    if (names->recycles)
        drop_oldest(names, list);
    else if (!list->is_swept)
        sweep(names, list, false);
    list->is_swept = true;
    if (list->count < EXPOSE_NAMES_MAX)
        return MCPX_OK;
    names->left_out++;
    return MCPX_ELIMIT;
}

enum mcpx_err expose_names_put(struct expose_names *names, enum expose_space space,
                               const struct expose_thing *thing, struct mcpx_slice *shown)
{
    struct expose_name *row = find_pair(names, space, thing);
    struct expose_owner *owner = row ? row->owner : make_owner(names, thing->participant);
    enum mcpx_err err;

    if (!owner)
        return MCPX_ENOMEM;
    is_back(names, owner);
    if (!row) {
        err = make_room(names, owner, space);
        if (err)
            return err;
        row = calloc(1, sizeof *row);
        if (!row)
            return MCPX_ENOMEM;
        mcpx_text_slice(&row->own, thing->own);
        write_shown(names, space, thing, &row->shown);
        if (row->own.failed || row->shown.failed) {
            row_free(row);
            return MCPX_ENOMEM;
        }
        row->owner = owner;
        row->space = space;
        row->pair = hash_pair(names, thing);
        row->face = mx_map_hash(names->key, mcpx_text_view(&row->shown));
        mx_map_put(&names->pairs, row->pair, (uintptr_t)row);
        mx_map_put(&names->faces, row->face, (uintptr_t)row);
        append(&owner->lists[space], row);
        owner->lists[space].count++;
        owner->count++;
        names->count++;
    }
    row->renewed = owner->lists[space].renewed;
    *shown = mcpx_text_view(&row->shown);
    return MCPX_OK;
}

bool expose_names_find(const struct expose_names *names, enum expose_space space,
                       struct mcpx_slice shown, struct expose_thing *thing)
{
    const struct expose_name *row = find_face(names, space, shown);

    if (!row)
        return false;
    thing->participant = mcpx_text_view(&row->owner->participant);
    thing->own = mcpx_text_view(&row->own);
    return true;
}

struct mcpx_slice expose_names_shown(const struct expose_names *names, enum expose_space space,
                                     const struct expose_thing *thing)
{
    const struct expose_name *row = find_pair(names, space, thing);

    return row ? mcpx_text_view(&row->shown) : (struct mcpx_slice){0};
}
