/*
 * expose_names.c - rows of (space, participant, own name, shown name), found by comparing hashes in
 * a row: a topic has some hundred tools, and names are looked up once per call. Rows stay when their
 * owner leaves, so a tool that comes back has the name it had. A name that could be split again
 * ("participant, two underscores, tool") was refused: ids may hold any character, two pairs can
 * meet in one name, and whoever may choose an id would choose whose calls it gets.
 * Includes expose_names.h and expose_uri.h only.
 */
#include "tools/mcpx-bridge/expose_names.h"

#include "tools/mcpx-bridge/expose_uri.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MARK_LEN = 9 }; /* "_" and eight hexadecimal digits */

struct expose_name {
    enum expose_space space;
    uint64_t pair; /* hash of participant and own */
    uint64_t face; /* hash of shown */
    struct mcpx_text participant;
    struct mcpx_text own;
    struct mcpx_text shown;
};

/* FNV-1a: not secret, the same in every run and on every machine. */
static uint64_t hash_more(uint64_t hash, struct mcpx_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_text(struct mcpx_slice text)
{
    return hash_more(UINT64_C(0xcbf29ce484222325), text);
}

static uint64_t hash_pair(const struct expose_thing *thing)
{
    uint64_t hash = hash_more(hash_text(thing->participant), (struct mcpx_slice){"", 1});

    return hash_more(hash, thing->own);
}

void expose_names_fini(struct expose_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        mcpx_text_fini(&names->rows[i].participant);
        mcpx_text_fini(&names->rows[i].own);
        mcpx_text_fini(&names->rows[i].shown);
    }
    free(names->rows);
    *names = (struct expose_names){.plain = names->plain};
}

static const struct expose_name *find_face(const struct expose_names *names,
                                           enum expose_space space, struct mcpx_slice shown)
{
    uint64_t face = hash_text(shown);

    for (size_t i = 0; i < names->count; i++) {
        const struct expose_name *row = &names->rows[i];

        if (row->face == face && row->space == space &&
            mcpx_slice_equal(mcpx_text_view(&row->shown), shown))
            return row;
    }
    return NULL;
}

static const struct expose_name *find_pair(const struct expose_names *names,
                                           enum expose_space space,
                                           const struct expose_thing *thing)
{
    uint64_t pair = hash_pair(thing);

    for (size_t i = 0; i < names->count; i++) {
        const struct expose_name *row = &names->rows[i];

        if (row->pair == pair && row->space == space &&
            mcpx_slice_equal(mcpx_text_view(&row->own), thing->own) &&
            mcpx_slice_equal(mcpx_text_view(&row->participant), thing->participant))
            return row;
    }
    return NULL;
}

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == '-';
}

/* Appends with "_" for what a name may not hold; true when something was replaced. */
static bool add_clean(struct mcpx_text *out, struct mcpx_slice text)
{
    bool changed = false;

    for (size_t i = 0; i < text.len; i++) {
        bool fits = is_name_byte(text.text[i]);

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

static void write_prefixed(const struct expose_names *names, enum expose_space space,
                           const struct expose_thing *thing, struct mcpx_text *out)
{
    uint64_t hash = hash_pair(thing);
    bool mark = is_ambiguous(thing->participant);
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
    bool as_it_is = is_uri ? !expose_uri_is_wrapped(thing->own) : names->plain;

    if (as_it_is && !find_face(names, space, thing->own))
        mcpx_text_slice(out, thing->own);
    else if (is_uri)
        expose_uri_wrap(out, thing->participant, thing->own, space == EXPOSE_URI_TEMPLATE);
    else
        write_prefixed(names, space, thing, out);
}

static enum mcpx_err make_room(struct expose_names *names)
{
    size_t size = names->size ? names->size * 2 : 64;
    struct expose_name *rows;

    if (names->count >= EXPOSE_NAMES_MAX)
        return MCPX_ELIMIT;
    if (names->count < names->size)
        return MCPX_OK;
    rows = realloc(names->rows, size * sizeof *rows);
    if (!rows)
        return MCPX_ENOMEM;
    names->rows = rows;
    names->size = size;
    return MCPX_OK;
}

enum mcpx_err expose_names_put(struct expose_names *names, enum expose_space space,
                               const struct expose_thing *thing, struct mcpx_slice *shown)
{
    const struct expose_name *known = find_pair(names, space, thing);
    struct expose_name row = {.space = space, .pair = hash_pair(thing)};
    enum mcpx_err err;

    if (known) {
        *shown = mcpx_text_view(&known->shown);
        return MCPX_OK;
    }
    err = make_room(names);
    if (err)
        return err;
    mcpx_text_slice(&row.participant, thing->participant);
    mcpx_text_slice(&row.own, thing->own);
    write_shown(names, space, thing, &row.shown);
    if (row.participant.failed || row.own.failed || row.shown.failed) {
        mcpx_text_fini(&row.participant);
        mcpx_text_fini(&row.own);
        mcpx_text_fini(&row.shown);
        return MCPX_ENOMEM;
    }
    row.face = hash_text(mcpx_text_view(&row.shown));
    names->rows[names->count++] = row;
    *shown = mcpx_text_view(&row.shown);
    return MCPX_OK;
}

bool expose_names_find(const struct expose_names *names, enum expose_space space,
                       struct mcpx_slice shown, struct expose_thing *thing)
{
    const struct expose_name *row = find_face(names, space, shown);

    if (!row)
        return false;
    thing->participant = mcpx_text_view(&row->participant);
    thing->own = mcpx_text_view(&row->own);
    return true;
}

struct mcpx_slice expose_names_shown(const struct expose_names *names, enum expose_space space,
                                     const struct expose_thing *thing)
{
    const struct expose_name *row = find_pair(names, space, thing);

    return row ? mcpx_text_view(&row->shown) : (struct mcpx_slice){0};
}
