/*
 * difference.h - who gains and loses what when one configuration takes the place of another.
 */
#ifndef POLICY_DIFFERENCE_H
#define POLICY_DIFFERENCE_H

#include "router/policy/tokens.h"

struct person;
struct profile;

enum difference_change { DIFFERENCE_ADDED, DIFFERENCE_REMOVED, DIFFERENCE_CHANGED };

/**
 * One participant or profile that is not what it was. Of what was added there is no `before`, of
 * what was removed no `after`. Lent until the tokens are freed.
 */
struct difference_row {
    enum difference_change change;
    struct {
        const struct person *before, *after;
    } person;
    struct {
        const struct profile *before, *after;
    } profile;
};

/**
 * All of them, profiles first.
 *
 * counts   of participants, by enum difference_change
 */
struct difference {
    struct difference_row *rows;
    size_t count, room;
    size_t counts[3];
};

/**
 * Finds what is different. Both are only read, and lent to the difference until difference_fini.
 *
 * out   zeroed; to be released with difference_fini in every case
 *
 * Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err difference_find(const struct tokens *before, const struct tokens *after,
                              struct difference *out);

/** Releases what difference_find filled in. */
void difference_fini(struct difference *difference);

/** "added", "removed" or "changed". Static. */
const char *difference_word(enum difference_change change);

/** Whom a row is about; `kind` is filled with "participant" or "profile". */
struct mcpx_slice difference_name(const struct difference_row *row, const char **kind);

/**
 * Appends all as a JSON array, but ends it behind the row with which `out` is longer than
 * `bytes_max`. A row is an object: who, the change, what was gained and lost (docs/http-api.md). Of
 * tokens it says only whether there is another one. Long lists of grants take milliseconds.
 *
 * Returns how many rows are in it.
 */
size_t difference_write(const struct difference *difference, size_t bytes_max,
                        struct mcpx_text *out);

/**
 * What is told of two configurations.
 *
 * rev, was   the policy of the new and of the old one
 * settings   as config_compare has them
 * rows       as difference_write has them, `shown` of them
 */
struct difference_answer {
    const char *rev, *was;
    const struct difference *difference;
    struct mcpx_slice settings, rows;
    size_t shown;
};

/** Appends the members of the answer to a reload to an object (docs/http-api.md). */
void difference_write_answer(const struct difference_answer *answer, struct mcpx_text *out);

#endif
