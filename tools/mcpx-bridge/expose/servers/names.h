/*
 * names.h - the client's names for the tools and resources of many participants. The table works
 * in both directions: a name is never split to find its owner.
 */
#ifndef MCPX_BRIDGE_EXPOSE_NAMES_H
#define MCPX_BRIDGE_EXPOSE_NAMES_H

#include "lib/base/holders.h"

#include <mcpx/error.h>
#include <mcpx/text.h>

/* ---- forms of names: they depend on owner and name alone, so every run has the same. ---- */

/** The longest prefixed name of a tool or prompt, in bytes. */
enum { EXPOSE_NAME_MAX = 64 };

/** A tool, prompt or resource: its owner, and the owner's own name for it. */
struct expose_item {
    struct mcpx_slice participant;
    struct mcpx_slice own;
};

/** True when a prefixed name may hold this byte. */
bool expose_shown_may_hold(char byte);

/** False for a name with "__", or with an end like a mark ("_", 20 of a-z and 2-7). */
bool expose_shown_may_be_plain(struct mcpx_slice name);

/**
 * Appends `PARTICIPANT__NAME` in [A-Za-z0-9_.-], at most EXPOSE_NAME_MAX bytes. It ends with a mark
 * in four cases: `marked` is true; bytes were replaced or cut; the id is ambiguous ("a__b" and "c"
 * would have the name of "a" and "b__c"); the name would end like a mark. So two pairs never have
 * the same name without a mark, and a name without a mark never equals one with a mark. A mark is
 * 100 bits of the pair's SHA-256: to find another pair with it takes 2^100 tries.
 */
void expose_shown_write(struct mcpx_text *out, const struct expose_item *item, bool marked);

/**
 * A wrapped URI is `mcpx://PARTICIPANT/` and the URI, with all but unreserved characters
 * percent-encoded; with `template`, expressions in braces stay unchanged. Unwrapping returns false
 * and appends nothing for a URI of another participant, or a URI that is not wrapped.
 */
bool expose_uri_is_wrapped(struct mcpx_slice uri);
void expose_uri_wrap(struct mcpx_text *out, struct mcpx_slice participant,
                     struct mcpx_slice uri, bool template);
bool expose_uri_unwrap(struct mcpx_text *out, struct mcpx_slice participant,
                       struct mcpx_slice wrapped);

/**
 * True when the template (RFC 6570) could expand to this URI, if expressions (and stars) stand for
 * any bytes; and the number of bytes in front of the first of them.
 */
bool expose_uri_matches(struct mcpx_slice template, struct mcpx_slice uri);
size_t expose_uri_literal(struct mcpx_slice template);

/* ---- the table ---- */

/**
 * Most names of one participant, all its instances together, in one space; and most names of absent
 * participants. Their names are kept, so they have the same ones when they return.
 */
enum { EXPOSE_NAMES_MAX = 4096, EXPOSE_NAMES_OF_GONE_MAX = 8192 };

/** The name spaces. Equal names in different spaces do not conflict. */
enum expose_space {
    EXPOSE_TOOL_NAME,
    EXPOSE_PROMPT_NAME,
    EXPOSE_URI,
    EXPOSE_URI_TEMPLATE,
    EXPOSE_TASK_ID,
    EXPOSE_ELICITATION_ID,
    EXPOSE_SPACE_COUNT
};

struct expose_owner;

/** A table. Zero-initialised, with a key, it is empty. */
struct expose_names {
    struct mx_map_key key; /* secret from participants (lib/base/map.h) */
    /* Tools and prompts keep their own names where no other participant has the same. */
    bool plain;
    bool room; /* names of a participant "room" get a mark: "room__..." are the bridge's */
    /* Called for each changed name of a tool or prompt; NULL: not called. */
    void (*renamed)(void *user, struct mcpx_slice former, struct mcpx_slice shown);
    void *user;
    struct mcpx_slice secret; /* not empty: ends the shown form of a new id */
    uint64_t pass;        /* not 0: number of the list being written; it has each name once */
    size_t left_out;      /* names refused for lack of room */
    struct mx_map by_own; /* rows by own name; the rest is private */
    struct mx_map by_shown;                     /* rows by shown name */
    struct expose_owner *owners;                /* most recently used first */
    struct mx_holders held[EXPOSE_SPACE_COUNT]; /* names of present participants */
    struct mx_holders gone;                     /* of absent ones */
    uint64_t clock;                             /* a counter, for the order in time */
};

/** Frees the table's content. */
void expose_names_fini(struct expose_names *names);

/**
 * Gives an item its name. Later calls give the same name, until another participant has an item
 * with the same own name: then neither keeps it, and expose_names_rivals finds both.
 *
 * expose_shown_write makes the names of tools and prompts. With `plain` they keep their own names,
 * unless another participant has the same or expose_shown_may_be_plain is false; where the prefixed
 * name is taken as well, it gets a mark. URIs and templates stay unchanged, unless several
 * participants have them or they begin with "mcpx://": then they are wrapped. The first of equal
 * ids stays unchanged; the others are wrapped.
 *
 * item    copied
 * shown   filled; lent until the table changes
 *
 * When a participant has EXPOSE_NAMES_MAX names, names that it no longer lists make room: see
 * expose_names_renew.
 *
 * Returns MCPX_OK; MCPX_EDUPLICATE when the list being written has it already; MCPX_ELIMIT without
 * room.
 */
enum mcpx_err expose_names_put(struct expose_names *names, enum expose_space space,
                               const struct expose_item *item, struct mcpx_slice *shown);

/**
 * Finds the item with a shown name; the first two participants, by id, with items of this own
 * name; and the shown name of an item, absent when it has none. False: not found. Results are lent
 * until the table changes.
 */
bool expose_names_find(const struct expose_names *names, enum expose_space space,
                       struct mcpx_slice shown, struct expose_item *item);
bool expose_names_rivals(const struct expose_names *names, enum expose_space space,
                         struct mcpx_slice own, struct mcpx_slice *one,
                         struct mcpx_slice *other);
struct mcpx_slice expose_names_shown(const struct expose_names *names, enum expose_space space,
                                     const struct expose_item *item);

/**
 * A participant's list is read again. A name that is not put from now on is no longer listed and
 * makes room for new names, least recently put first.
 */
void expose_names_renew(struct expose_names *names, enum expose_space space,
                        struct mcpx_slice participant);

/**
 * The participant left. Its names are kept for its return, which it shows by putting a name. When
 * absent participants have too many names, those of the largest holder are dropped: of its
 * instances the first to leave.
 */
void expose_names_left(struct expose_names *names, struct mcpx_slice participant);

#endif
