/*
 * absent.h - who was in the topic before we joined anew and is not there again yet, and which of them
 * something of ours is addressed to.
 */
#ifndef MX_ABSENT_H
#define MX_ABSENT_H

#include "lib/participant/roster.h"

/**
 * The absent. Zero-initialised is nobody.
 *
 * people   who they are; `needed` says of each whether something of ours is addressed to them
 * needed   how many of them are
 * until    mono_ms until which they are waited for
 */
struct mx_absent {
    struct mx_roster people;
    size_t needed;
    int64_t until;
};

/** Nobody is absent any more. */
void mx_absent_fini(struct mx_absent *absent);

/** Who was there `before`, a roster that is taken, and is not among `now`, is absent. */
void mx_absent_note(struct mx_absent *absent, struct mx_roster *before,
                    const struct mx_roster *now);

/**
 * Something of ours is addressed to these. Returns true when that needs an absent who was not needed
 * before; false from `until` on.
 */
bool mx_absent_need(struct mx_absent *absent, const struct mcpx_slice *to, size_t count,
                    int64_t mono_ms);

/** Somebody is there. Returns true when they were absent and needed. */
bool mx_absent_came(struct mx_absent *absent, struct mcpx_slice id);

#endif
