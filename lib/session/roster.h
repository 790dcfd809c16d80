/*
 * roster.h - what the router says of participants: who is in the topic and what each could send;
 * who was there before we joined anew and has not come back; our own grants.
 */
#ifndef MX_ROSTER_H
#define MX_ROSTER_H

#include <mcpx/capability.h>
#include <mcpx/json.h>

/** A list in one piece of memory. Zero-initialised is empty. */
struct mx_string_list {
    struct mcpx_slice *items;
    size_t count;
};

/**
 * A participant as the router describes it: `{"id":…,"identity":…,
 * "capabilities":[…],"grants":[…]}`.
 *
 * identity_len  bytes of the id that are the identity
 * capset      what it may send; compiled at the first question
 * needed      an envelope of ours is addressed to it while it is absent
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

/** Removes the person with that id. Returns false when there is none. */
bool mx_roster_remove(struct mx_roster *roster, struct mcpx_slice id);

/** The person with that id, or NULL. Lent until they are removed or replaced. */
struct mx_person *mx_roster_find(const struct mx_roster *roster, struct mcpx_slice id);

/**
 * Whether this person could send that kind, by the capabilities that the router shows.
 * Malformed patterns are ignored.
 */
bool mx_person_could(struct mx_person *person, const struct mcpx_kind *kind);

/**
 * The participants that were in the topic before we joined anew and have not come back yet. One is
 * needed when an envelope of ours is addressed to it. Zero-initialised is nobody.
 *
 * people   the absent participants; each is marked when it is needed
 * needed   how many of them are needed
 * until    mono_ms until which we wait for them
 */
struct mx_absent {
    struct mx_roster people;
    size_t needed;
    int64_t until;
};

/** Nobody is absent any more. */
void mx_absent_fini(struct mx_absent *absent);

/** The participants in `before` that are not in `now` are absent. Takes `before`. */
void mx_absent_note(struct mx_absent *absent, struct mx_roster *before,
                    const struct mx_roster *now);

/**
 * An envelope of ours has these addressees. Returns true when one of them is absent and was not
 * needed before; always false from `until` on.
 */
bool mx_absent_need(struct mx_absent *absent, const struct mcpx_slice *to, size_t count,
                    int64_t mono_ms);

/** This participant has come. Returns true when it was absent and needed. */
bool mx_absent_came(struct mx_absent *absent, struct mcpx_slice id);

/**
 * Our grants. Zero-initialised is "not known".
 *
 * capabilities   the patterns as told
 * capset         compiled with their conditions; NULL when they are not known, or this library
 *                cannot read them
 */
struct mx_grants {
    struct mx_string_list capabilities;
    struct mcpx_capset *capset;
};

/**
 * Reads the `you` of a welcome: `capabilities`, and where there is one, `grants` with the
 * conditions. Returns MCPX_OK; MCPX_EINVALID when `capabilities` is no list of strings;
 * MCPX_ENOMEM. `out` is untouched on failure. Protocol: section 5.
 */
enum mcpx_err mx_grants_read(struct mcpx_slice you, struct mx_grants *out);

/** Frees them. Afterwards they are not known. */
void mx_grants_fini(struct mx_grants *grants);

/** True when the grants cover this, or are not known. */
bool mx_grants_may(const struct mx_grants *grants, const struct mcpx_question *question);

#endif
