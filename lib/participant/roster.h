/*
 * roster.h - who is in the topic, and what each of them could send.
 */
#ifndef MX_ROSTER_H
#define MX_ROSTER_H

#include "lib/participant/words.h"
#include <mcpx/capability.h>

/**
 * Somebody as the router describes them: `{"id":…,"identity":…,
 * "capabilities":[…],"grants":[…]}`.
 *
 * identity_len  bytes of the id that are their identity
 * capset      what they may send; compiled when first asked for
 * needed      something of ours is addressed to them while they are absent; see absent.h
 * compiled    it was tried; a capset of NULL then says that their patterns are not ours to read
 */
struct mx_person {
    struct mcpx_slice id;
    size_t identity_len;
    struct mx_words capabilities;
    struct mcpx_capset *capset;
    bool compiled;
    bool needed;
    char id_bytes[];
};

/**
 * Reads a description. Returns MCPX_OK with a person the caller owns; MCPX_EINVALID when it is none;
 * MCPX_ENOMEM.
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

/** Adds a person, which the roster takes, in place of who had that id. After mx_roster_reserve. */
void mx_roster_put(struct mx_roster *roster, struct mx_person *person);

/** Removes everybody who is in `others` as well. */
void mx_roster_subtract(struct mx_roster *roster, const struct mx_roster *others);

/** Removes who has that id. Returns false when nobody has. */
bool mx_roster_remove(struct mx_roster *roster, struct mcpx_slice id);

/** The person with that id, or NULL. Lent until they are removed or replaced. */
struct mx_person *mx_roster_find(const struct mx_roster *roster, struct mcpx_slice id);

/**
 * Could this person send that kind, going by what the router shows of them? Patterns that are none
 * are passed over.
 */
bool mx_person_could(struct mx_person *person, const struct mcpx_kind *kind);

#endif
