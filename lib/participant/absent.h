/*
 * absent.h - the participants that were in the topic before we joined anew and have not come
 * back yet. An absent participant is needed when an envelope of ours is addressed to it.
 */
#ifndef MX_ABSENT_H
#define MX_ABSENT_H

#include "lib/participant/roster.h"

/**
 * The absent. Zero-initialised is nobody.
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

#endif
