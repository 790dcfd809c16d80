/*
 * names.h - the names under which the client sees the tools and resources of many participants.
 * The table has both directions: a name is never split to find out who owns it.
 */
#ifndef MCPX_BRIDGE_EXPOSE_NAMES_H
#define MCPX_BRIDGE_EXPOSE_NAMES_H

#include "lib/base/holders.h"

#include <mcpx/error.h>
#include <mcpx/text.h>

/* ---- what a thing is called: owner and name alone decide, so it is the same in every run. ---- */

/** The longest name of a tool or prompt, in bytes, that is shown under `prefixed`. */
enum { EXPOSE_NAME_MAX = 64 };

/** A tool, prompt or resource by its owner's name. */
struct expose_item {
    struct mcpx_slice participant;
    struct mcpx_slice own;
};

/** May a name that begins with its owner's id hold this byte? */
bool expose_shown_may_hold(char byte);

/** May it have its own name? Not with "__", or with an end like a mark: "_", 20 of a-z and 2-7. */
bool expose_shown_may_be_plain(struct mcpx_slice name);

/**
 * Appends `PARTICIPANT__NAME` in [A-Za-z0-9_.-], at most EXPOSE_NAME_MAX bytes. It ends with a mark
 * when `marked` is true, when bytes had to be replaced or cut, when the participant's id would let
 * two pairs meet in one name ("a__b" and "c", "a" and "b__c"), and when it would end like a mark
 * anyway. So no two pairs have the same name without a mark, and no name without a mark is one with
 * a mark. A mark is 100 bits of the SHA-256 of the pair: who looks for another pair with the same
 * one tries 2^100.
 */
void expose_shown_write(struct mcpx_text *out, const struct expose_item *thing, bool marked);

/**
 * Wrapped, a URI is `mcpx://PARTICIPANT/` and itself, everything but unreserved characters
 * percent-encoded; with `template`, expressions in braces stay as they are. Unwrapping returns
 * false and appends nothing for what was wrapped for somebody else, or not at all.
 */
bool expose_uri_is_wrapped(struct mcpx_slice uri);
void expose_uri_wrap(struct mcpx_text *out, struct mcpx_slice participant,
                     struct mcpx_slice uri, bool template);
bool expose_uri_unwrap(struct mcpx_text *out, struct mcpx_slice participant,
                       struct mcpx_slice wrapped);

/**
 * Whether the template (RFC 6570) could expand to this URI, an expression standing for any bytes;
 * and how many bytes precede its first expression.
 */
bool expose_uri_matches(struct mcpx_slice template, struct mcpx_slice uri);
size_t expose_uri_literal(struct mcpx_slice template);

/* ---- the table ---- */

/**
 * Most names of one participant, all its instances together, in one space, and most names that are
 * kept of participants that have left, so that they get the same names when they come back.
 */
enum { EXPOSE_NAMES_MAX = 4096, EXPOSE_NAMES_OF_GONE_MAX = 4096 };

/** The name spaces. Equal names in different spaces are no conflict. */
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

/** A table; zero-initialised, with a key, is empty and ready. */
struct expose_names {
    struct mx_map_key key; /* nobody who gives names may know it (lib/base/map.h) */
    /* Tools and prompts keep their own names where no other participant has the same. */
    bool plain;
    /* Told of a name that was another one before; NULL: nobody is. */
    void (*renamed)(void *user, struct mcpx_slice former, struct mcpx_slice shown);
    void *user;
    uint64_t pass;       /* not 0: a list is being written, in which each name stands once */
    size_t left_out;     /* how often there was no room */
    struct mx_map owns;  /* names by own; the rest is private */
    struct mx_map faces; /* names by shown */
    struct expose_owner *owners;                /* the last one asked for comes first */
    struct mx_holders held[EXPOSE_SPACE_COUNT]; /* names of who is here */
    struct mx_holders gone;                     /* of who left */
    uint64_t clock; /* a counter that shows which of two is older */
};

/** Frees the table's content. */
void expose_names_fini(struct expose_names *names);

/**
 * Gives a thing its name. Later calls give the same name, until another participant has a thing
 * that is called the same: then neither keeps that name, and expose_names_rivals knows both.
 *
 * Tools and prompts are called as expose_shown_write says. With `plain` that is so only where
 * another participant has their own name, too, or it ends like a mark; where the name without a
 * mark is taken too, it gets a mark. URIs and templates stay as they are; one that several have, or
 * that begins with "mcpx://" itself, becomes `mcpx://PARTICIPANT/` and the percent-encoded URI, in
 * a template all but its expressions. Of ids the first one stays as it is.
 *
 * thing   copied
 * shown   filled; lent until the table changes
 *
 * Where a participant has EXPOSE_NAMES_MAX names, those it no longer lists make room: see
 * expose_names_renew.
 *
 * Returns MCPX_OK; MCPX_EDUPLICATE when the list being written has it already; MCPX_ELIMIT when
 * there is no room.
 */
enum mcpx_err expose_names_put(struct expose_names *names, enum expose_space space,
                               const struct expose_item *thing, struct mcpx_slice *shown);

/**
 * Finds the owner of a name; the name a thing was given, absent when it has none; and the first two
 * participants, by their ids, that have a thing of this name of their own. False when there are no
 * such. What is found is lent until the table changes.
 */
bool expose_names_find(const struct expose_names *names, enum expose_space space,
                       struct mcpx_slice shown, struct expose_item *thing);
bool expose_names_rivals(const struct expose_names *names, enum expose_space space,
                         struct mcpx_slice own, struct mcpx_slice *one,
                         struct mcpx_slice *other);
struct mcpx_slice expose_names_shown(const struct expose_names *names, enum expose_space space,
                                     const struct expose_item *thing);

/**
 * A participant's list is read anew: what is not put from here on, it no longer lists, and makes
 * room for what is, the one first that was put longest ago.
 */
void expose_names_renew(struct expose_names *names, enum expose_space space,
                        struct mcpx_slice participant);

/**
 * The participant left. Its names are kept until those of all who left are too many; then those of
 * the one that has most are forgotten, until it puts a name again: of its instances the first to
 * leave.
 */
void expose_names_left(struct expose_names *names, struct mcpx_slice participant);

#endif
