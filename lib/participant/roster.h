/*
 * roster.h - the participants in the topic, and what each of them could send.
 */
#ifndef MX_ROSTER_H
#define MX_ROSTER_H

#include "lib/participant/string_list.h"
#include <mcpx/capability.h>

/**
 * A participant as the router describes it: `{"id":…,"identity":…,
 * "capabilities":[…],"grants":[…]}`.
 *
 * identity_len  bytes of the id that are the identity
 * capset      what it may send; compiled at the first question
 * needed      an envelope of ours is addressed to it while it is absent; see absent.h
 * compiled    compiling was tried; if capset is NULL then, this library cannot read the
 *             patterns
 */
struct mx_person {
    struct mcpx_slice id;
    size_t identity_len;
    struct mx_string_list capabilities;
    struct mcpx_capset *capset;
    bool compiled;
    bool needed;
    char id_bytes[];
};

/**
 * Reads a description and gives a person. Returns MCPX_OK; MCPX_EINVALID when it describes
 * none; MCPX_ENOMEM.
 */
enum mcpx_err mx_person_read(struct mcpx_slice object, struct mx_person **out);

/** Frees a person. NULL is allowed. */
void mx_person_free(struct mx_person *person);

/** People in the order of their ids. Zero-initialised is nobody. */
struct mx_roster {
    struct mx_person **people;
    size_t count, size;
};

/** Frees the list and everybody in it. */
void mx_roster_fini(struct mx_roster *roster);

/** Makes sure that the next mx_roster_put cannot fail; false when memory runs out. */
bool mx_roster_reserve(struct mx_roster *roster);

/**
 * Adds a person, which the roster takes. It replaces the person with the same id. After
 * mx_roster_reserve.
 */
void mx_roster_put(struct mx_roster *roster, struct mx_person *person);

/** Removes all persons that are also in `others`. */
void mx_roster_subtract(struct mx_roster *roster, const struct mx_roster *others);

/** Removes the person with that id. Returns false when there is none. */
bool mx_roster_remove(struct mx_roster *roster, struct mcpx_slice id);

/** The person with that id, or NULL. Lent until they are removed or replaced. */
struct mx_person *mx_roster_find(const struct mx_roster *roster, struct mcpx_slice id);

/**
 * Whether this person could send that kind, by the capabilities that the router shows.
 * Malformed patterns are ignored.
 */
bool mx_person_could(struct mx_person *person, const struct mcpx_kind *kind);

#endif
