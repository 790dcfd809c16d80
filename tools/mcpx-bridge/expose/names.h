/*
 * names.h - the names under which the client sees the tools and resources of many participants.
 * The table has both directions: a name is never split to find out who owns it.
 */
#ifndef MCPX_BRIDGE_EXPOSE_NAMES_H
#define MCPX_BRIDGE_EXPOSE_NAMES_H

#include "lib/core/map.h"

#include <mcpx/error.h>
#include <mcpx/text.h>

/** The longest name of a tool or prompt, in bytes, that is shown under `prefixed`. */
enum { EXPOSE_NAME_MAX = 64 };

/**
 * Most names of one participant in one space, and most names that are kept of participants that
 * have left, so that they get the same names when they come back.
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

/** A tool, prompt or resource by its owner's name. */
struct expose_thing {
    struct mcpx_slice participant;
    struct mcpx_slice own;
};

struct expose_owner;

/**
 * A table; zero-initialised, with a key, is empty and ready.
 *
 * key        nobody who gives names may know it (lib/core/map.h)
 * plain      tools and prompts keep their own names; the second participant with the same name
 *            gets a prefixed one
 * recycles   a participant's newest name takes the place of its oldest where there is no room
 * count      names in it
 * left_out   how often there was no room
 */
struct expose_names {
    struct mx_map_key key;
    bool plain;
    bool recycles;
    size_t count;
    size_t left_out;
    struct mx_map pairs;         /* private: names by participant and own */
    struct mx_map faces;         /* private: names by shown */
    struct expose_owner *owners; /* private: the last one asked for comes first */
    size_t gone;                 /* private: names of owners who left */
    uint64_t clock;              /* private: a counter that shows which of two is older */
};

/** A hash of a text, the same in every run and on every machine; not secret. */
uint64_t expose_hash(struct mcpx_slice text);

/** May a name that begins with its owner's id hold this byte? */
bool expose_names_may_hold(char byte);

/** Frees the table's content. */
void expose_names_fini(struct expose_names *names);

/**
 * Gives a thing its name. Later calls give the same name.
 *
 * Tools and prompts are called `PARTICIPANT__NAME` in [A-Za-z0-9_.-], at most EXPOSE_NAME_MAX
 * bytes. Where bytes had to be replaced or cut, where the participant's id would let two pairs meet
 * in one name ("a__b" and "c", "a" and "b__c"), and where the name is taken, it ends with "_" and
 * eight hexadecimal digits that depend on the pair alone. URIs and templates stay as they are;
 * so do ids;
 * one that is taken, or that begins with "mcpx://" itself, becomes `mcpx://PARTICIPANT/` and the
 * percent-encoded URI, in a template all but its expressions.
 *
 * thing   copied
 * shown   filled; lent until the table changes
 *
 * Where a participant has EXPOSE_NAMES_MAX names, those it no longer lists make room: see
 * expose_names_renew.
 *
 * Returns MCPX_OK; MCPX_ELIMIT when there is no room; MCPX_ENOMEM.
 */
enum mcpx_err expose_names_put(struct expose_names *names, enum expose_space space,
                               const struct expose_thing *thing, struct mcpx_slice *shown);

/**
 * Finds the owner of a name. Returns false when it was never given. `thing` is lent until the
 * table changes.
 */
bool expose_names_find(const struct expose_names *names, enum expose_space space,
                       struct mcpx_slice shown, struct expose_thing *thing);

/** The name a thing was given; absent when it has none. Lent until the table changes. */
struct mcpx_slice expose_names_shown(const struct expose_names *names, enum expose_space space,
                                     const struct expose_thing *thing);

/**
 * A participant's list is read anew: what is neither put nor touched from here on, it no longer
 * lists. All that it still lists has to be touched before the first is put.
 */
void expose_names_renew(struct expose_names *names, enum expose_space space,
                        struct mcpx_slice participant);

/** The thing is still listed. */
void expose_names_touch(struct expose_names *names, enum expose_space space,
                        const struct expose_thing *thing);

/**
 * The participant left. Its names are kept until those of all who left are too many; then whoever
 * left first is forgotten, until it puts a name again.
 */
void expose_names_left(struct expose_names *names, struct mcpx_slice participant);

#endif
