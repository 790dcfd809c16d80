/*
 * names.c - rows of (space, participant, own name, shown name) in two hash tables, one for each
 * direction. A quota per participant and space bounds them, so no participant takes the room of
 * others. Rows stay for a while when their owner leaves, so a returning tool keeps its name.
 *
 * Rejected: names that can be split again ("participant, two underscores, tool"). Ids may hold any
 * character, so two pairs can have one name: a participant could choose an id to get others' calls.
 */
#include "tools/mcpx-bridge/expose/servers/names.h"

#include "tools/mcpx-bridge/bridge.h"

#include <mcpx/envelope.h>

#include <stdlib.h>

struct expose_name {
    struct expose_name *previous, *next; /* of the same owner and space; next is newer */
    struct expose_owner *owner;
    enum expose_space space;
    uint64_t shown_hash;   /* keyed hash of shown */
    uint64_t pass;         /* the table's, when it was put last */
    uint64_t renewed;      /* the list's, when it was listed last */
    struct mcpx_slice own; /* behind the struct */
    struct mcpx_text shown;
};

/* One participant's names in one space, least recently listed first. */
struct list {
    struct expose_name *first, *last;
    size_t count;
    uint64_t renewed;
};

struct expose_owner {
    struct expose_owner *next;
    struct mcpx_slice participant; /* behind the struct */
    uint64_t left;                 /* `clock` when it left; 0 = it is here */
    struct list lists[EXPOSE_SPACE_COUNT];
};

static bool is_owner(const struct expose_owner *owner, struct mcpx_slice participant)
{
    return mcpx_slice_equal(owner->participant, participant);
}

static struct mcpx_slice identity_of(const struct expose_owner *owner)
{
    return mcpx_identity_of(owner->participant);
}

/* ---- rows in their tables ---- */

/*
 * The next row with this name in `map`: its own name, or its shown one. The key is secret, so an
 * attacker cannot choose names with equal hashes.
 */
static struct expose_name *next_called(const struct expose_names *names,
                                       const struct mx_map *map, enum expose_space space,
                                       struct mcpx_slice name, size_t *at)
{
    uint64_t hash = mx_map_hash(names->key, name);
    struct expose_name *row;

    while ((row = (struct expose_name *)(uintptr_t)mx_map_next(map, hash, at)))
        if (row->space == space &&
            mcpx_slice_equal(map == &names->by_shown ? mcpx_text_view(&row->shown) : row->own,
                             name))
            break;
    return row;
}

static struct expose_name *find_face(const struct expose_names *names, enum expose_space space,
                                     struct mcpx_slice shown)
{
    size_t at = 0;

    return next_called(names, &names->by_shown, space, shown, &at);
}

static struct expose_name *find_pair(const struct expose_names *names, enum expose_space space,
                                     const struct expose_item *item)
{
    struct expose_name *row;
    size_t at = 0;

    while ((row = next_called(names, &names->by_own, space, item->own, &at)) &&
           !is_owner(row->owner, item->participant))
        ;
    return row;
}

static void append(struct list *list, struct expose_name *row)
{
    row->renewed = list->renewed;
    row->next = NULL;
    row->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = row;
    list->last = row;
}

static void unlist(struct list *list, struct expose_name *row)
{
    *(row->previous ? &row->previous->next : &list->first) = row->next;
    *(row->next ? &row->next->previous : &list->last) = row->previous;
}

static void forget_row(struct expose_names *names, struct expose_name *row)
{
    struct expose_owner *owner = row->owner;

    unlist(&owner->lists[row->space], row);
    mx_map_remove(&names->by_own, mx_map_hash(names->key, row->own), (uintptr_t)row);
    mx_map_remove(&names->by_shown, row->shown_hash, (uintptr_t)row);
    owner->lists[row->space].count--;
    mx_holders_remove(owner->left ? &names->gone : &names->held[row->space],
                      identity_of(owner), 1);
    mcpx_text_fini(&row->shown);
    free(row);
}

static void forget_all(struct expose_names *names, struct list *list)
{
    for (struct expose_name *row = list->first, *next; row; row = next) {
        next = row->next;
        forget_row(names, row);
    }
}

/* ---- owners ---- */

/* Finds an owner and moves it to the front; `makes`: adds a missing one. NULL: there is none. */
static struct expose_owner *find_owner(struct expose_names *names,
                                       struct mcpx_slice participant, bool makes)
{
    struct expose_owner **at = &names->owners, *owner;
    char *behind;

    while (*at && !is_owner(*at, participant))
        at = &(*at)->next;
    owner = *at;
    if (!owner && !makes)
        return NULL;
    if (owner) {
        *at = owner->next;
    } else {
        owner = bridge_room(sizeof *owner, participant.len, &behind);
        owner->participant = mx_keep(&behind, participant);
    }
    owner->next = names->owners;
    names->owners = owner;
    return owner;
}

static void free_owner(struct expose_names *names, struct expose_owner *owner)
{
    struct expose_owner **at = &names->owners;

    for (size_t i = 0; i < EXPOSE_SPACE_COUNT; i++)
        forget_all(names, &owner->lists[i]);
    while (*at != owner)
        at = &(*at)->next;
    *at = owner->next;
    free(owner);
}

/* Counts names of a present owner. False, and not counted, when they exceed its quota. */
static bool hold(struct expose_names *names, const struct expose_owner *owner,
                 enum expose_space space, size_t count)
{
    struct mx_holders *held = &names->held[space];

    held->key = names->key;
    held->cap = EXPOSE_NAMES_MAX;
    if (mx_holders_ask(held, identity_of(owner), count) != MX_SHARING_FITS)
        return false;
    if (count)
        mx_holders_add(held, identity_of(owner), count);
    return true;
}

static void is_back(struct expose_names *names, struct expose_owner *owner)
{
    for (size_t i = 0; i < EXPOSE_SPACE_COUNT; i++) {
        size_t count = owner->lists[i].count;

        if (!hold(names, owner, (enum expose_space)i, count))
            forget_all(names, &owner->lists[i]);
        mx_holders_remove(&names->gone, identity_of(owner), owner->lists[i].count);
    }
    owner->left = 0;
}

/* The instance that left first, of the absent participant with most names. */
static struct expose_owner *find_largest_gone(const struct expose_names *names)
{
    struct mcpx_slice largest = mx_holders_largest(&names->gone);
    struct expose_owner *first = NULL;

    for (struct expose_owner *owner = names->owners; owner; owner = owner->next)
        if (owner->left && mcpx_slice_equal(identity_of(owner), largest) &&
            (!first || owner->left < first->left))
            first = owner;
    return first;
}

void expose_names_left(struct expose_names *names, struct mcpx_slice participant)
{
    struct expose_owner *owner = find_owner(names, participant, false);
    size_t kept = 0;

    if (!owner || owner->left)
        return;
    names->gone.key = names->key;
    owner->left = ++names->clock;
    for (size_t i = 0; i < EXPOSE_SPACE_COUNT; i++) {
        mx_holders_remove(&names->held[i], identity_of(owner), owner->lists[i].count);
        kept += owner->lists[i].count;
    }
    if (kept)
        mx_holders_add(&names->gone, identity_of(owner), kept);
    else
        free_owner(names, owner);
    while (names->gone.held > EXPOSE_NAMES_OF_GONE_MAX)
        free_owner(names, find_largest_gone(names));
}

void expose_names_fini(struct expose_names *names)
{
    while (names->owners)
        free_owner(names, names->owners);
    mx_map_fini(&names->by_own);
    mx_map_fini(&names->by_shown);
    for (size_t i = 0; i < EXPOSE_SPACE_COUNT; i++)
        mx_holders_fini(&names->held[i]);
    mx_holders_fini(&names->gone);
    *names =
        (struct expose_names){.key = names->key, .plain = names->plain, .room = names->room};
}

void expose_names_renew(struct expose_names *names, enum expose_space space,
                        struct mcpx_slice participant)
{
    struct expose_owner *owner = find_owner(names, participant, false);

    if (owner)
        owner->lists[space].renewed = ++names->clock;
}

/* ---- shown names ---- */

static bool is_uri(enum expose_space space)
{
    return space != EXPOSE_TOOL_NAME && space != EXPOSE_PROMPT_NAME;
}

/* True for ids. Of equal ids the first keeps its form: the client may know it already. */
static bool is_id(enum expose_space space)
{
    return space == EXPOSE_TASK_ID || space == EXPOSE_ELICITATION_ID;
}

/* True when no other item has the own name, as own or shown name; for ids: as shown name. */
static bool is_sole(const struct expose_names *names, enum expose_space space,
                    const struct expose_item *item)
{
    struct expose_name *row;
    size_t at = 0;

    while (!is_id(space) &&
           (row = next_called(names, &names->by_own, space, item->own, &at)) != NULL)
        if (!is_owner(row->owner, item->participant))
            return false;
    return !find_face(names, space, item->own);
}

/* Appends the form of the name that only this item has. */
static void write_distinct(const struct expose_names *names, enum expose_space space,
                           const struct expose_item *item, struct mcpx_text *out)
{
    if (is_uri(space))
        expose_uri_wrap(out, item->participant, item->own, space == EXPOSE_URI_TEMPLATE);
    else
        expose_shown_write(out, item, names->room && bridge_is(item->participant, "room"));
    if (is_uri(space) || !names->plain || !find_face(names, space, mcpx_text_view(out)))
        return;
    mcpx_text_reset(out);
    expose_shown_write(out, item, true);
}

static void write_shown(const struct expose_names *names, enum expose_space space,
                        const struct expose_item *item, struct mcpx_text *out)
{
    bool as_it_is = is_uri(space) ? !expose_uri_is_wrapped(item->own)
                                  : names->plain && expose_shown_may_be_plain(item->own);

    if (as_it_is && !names->secret.len && is_sole(names, space, item))
        mcpx_text_slice(out, item->own);
    else
        write_distinct(names, space, item, out);
    mcpx_text_slice(out, names->secret);
}

/* Gives another shown name to a rival's item that is shown by the same own name so far. */
static void rename_rival(struct expose_names *names, const struct expose_item *item,
                         enum expose_space space)
{
    struct expose_name *row = is_id(space) ? NULL : find_face(names, space, item->own);
    struct mcpx_text shown = {0};

    if (!row || is_owner(row->owner, item->participant) ||
        !mcpx_slice_equal(row->own, item->own))
        return;
    write_distinct(names, space, &(struct expose_item){row->owner->participant, item->own},
                   &shown);
    mx_map_remove(&names->by_shown, row->shown_hash, (uintptr_t)row);
    mcpx_text_fini(&row->shown);
    row->shown = shown;
    row->shown_hash = mx_map_hash(names->key, mcpx_text_view(&shown));
    mx_map_put(&names->by_shown, row->shown_hash, (uintptr_t)row);
    if (!is_uri(space) && names->renamed)
        names->renamed(names->user, item->own, mcpx_text_view(&shown));
}

/* ---- the functions of the table ---- */

/* Makes room for one more name and counts it. False: the quota is used up. */
static bool make_room(struct expose_names *names, struct expose_owner *owner,
                      enum expose_space space)
{
    struct list *list = &owner->lists[space];

    mx_map_reserve(&names->by_own);
    mx_map_reserve(&names->by_shown);
    if (hold(names, owner, space, 1))
        return true;
    if (list->first && list->first->renewed != list->renewed)
        forget_row(names, list->first);
    if (hold(names, owner, space, 1))
        return true;
    names->left_out++;
    return false;
}

/* Adds a row. The tables have room for it. */
static struct expose_name *add_row(struct expose_names *names, struct expose_owner *owner,
                                   enum expose_space space, const struct expose_item *item)
{
    char *behind;
    struct expose_name *row = bridge_room(sizeof *row, item->own.len, &behind);

    row->own = mx_keep(&behind, item->own);
    write_shown(names, space, item, &row->shown);
    rename_rival(names, item, space);
    row->owner = owner;
    row->space = space;
    row->shown_hash = mx_map_hash(names->key, mcpx_text_view(&row->shown));
    mx_map_put(&names->by_own, mx_map_hash(names->key, item->own), (uintptr_t)row);
    mx_map_put(&names->by_shown, row->shown_hash, (uintptr_t)row);
    append(&owner->lists[space], row);
    owner->lists[space].count++;
    return row;
}

enum mcpx_err expose_names_put(struct expose_names *names, enum expose_space space,
                               const struct expose_item *item, struct mcpx_slice *shown)
{
    struct expose_name *row = find_pair(names, space, item);
    struct expose_owner *owner = row ? row->owner : find_owner(names, item->participant, true);

    if (owner->left) {
        is_back(names, owner);
        row = find_pair(names, space, item);
    }
    if (row && names->pass && row->pass == names->pass)
        return MCPX_EDUPLICATE;
    if (row && names->secret.len) { /* the former of that id is another's */
        forget_row(names, row);
        row = NULL;
    }
    if (row) {
        unlist(&owner->lists[space], row);
        append(&owner->lists[space], row);
    } else {
        if (!make_room(names, owner, space))
            return MCPX_ELIMIT;
        row = add_row(names, owner, space, item);
    }
    row->pass = names->pass;
    *shown = mcpx_text_view(&row->shown);
    return MCPX_OK;
}

bool expose_names_find(const struct expose_names *names, enum expose_space space,
                       struct mcpx_slice shown, struct expose_item *item)
{
    const struct expose_name *row = find_face(names, space, shown);

    if (!row)
        return false;
    item->participant = row->owner->participant;
    item->own = row->own;
    return true;
}

bool expose_names_rivals(const struct expose_names *names, enum expose_space space,
                         struct mcpx_slice own, struct mcpx_slice *one,
                         struct mcpx_slice *other)
{
    const struct expose_name *row;
    size_t at = 0, count = 0;

    if (is_id(space) || !(is_uri(space) || names->plain))
        return false;
    while ((row = next_called(names, &names->by_own, space, own, &at)) != NULL) {
        struct mcpx_slice who = row->owner->participant;

        if (count == 0 || mcpx_slice_compare(who, *one) < 0) {
            *other = count ? *one : who;
            *one = who;
        } else if (count == 1 || mcpx_slice_compare(who, *other) < 0) {
            *other = who;
        }
        count++;
    }
    return count > 1;
}

struct mcpx_slice expose_names_shown(const struct expose_names *names, enum expose_space space,
                                     const struct expose_item *item)
{
    const struct expose_name *row = find_pair(names, space, item);

    return row ? mcpx_text_view(&row->shown) : (struct mcpx_slice){0};
}
