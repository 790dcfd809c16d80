/*
 * audit_link.h - a line as a link of the chain; what audit_verify.c and audit_diagnose.c share.
 */
#ifndef STORE_AUDIT_LINK_H
#define STORE_AUDIT_LINK_H

#include "router/store/audit_verify.h"

/**
 * A line without its text.
 *
 * at        how many lines are before it; its place
 * file, row as in struct audit_row
 * readable  it is a line at all; if not, seq and prev mean nothing
 * ended     it has a line feed
 * what      its sort
 * is_signed it is a checkpoint with a good signature
 * sum       its own SHA-256
 * signature of a checkpoint, its SHA-256; else ""
 */
struct audit_link {
    uint64_t at;
    size_t file;
    uint64_t row, named, seq;
    bool readable, ended, is_signed;
    enum audit_what what;
    char prev[MCPX_SHA256_LEN + 1], sum[MCPX_SHA256_LEN + 1], signature[MCPX_SHA256_LEN + 1];
};

/** True when `next` names `link` as the line before it. */
bool audit_link_joins(const struct audit_link *link, const struct audit_link *next);

/** Reads a line; `scratch` is for the digest. Signatures are not looked at. False: no memory. */
bool audit_link_read(const struct audit_row *row, struct mcpx_text *scratch,
                     struct audit_link *out);

/**
 * Where the chain breaks.
 *
 * before       the last line that is good; has_before = there is one
 * broken       the first that is not
 * next         the one behind it; has_next = there is one
 * signature    what is wrong with that of `broken`, which fits; AUDIT_WHOLE: it does not fit
 */
struct audit_break {
    bool has_before, has_next;
    struct audit_link before, broken, next;
    enum audit_damage signature;
};

/** The seq that the broken line should have. */
uint64_t audit_break_seq(const struct audit_break *at);

/** Reads all lines again and says what was done. Fills in damage, place and reason. */
enum mcpx_err audit_diagnose(const struct audit_rows *rows, const struct audit_break *at,
                             struct audit_verdict *out);

#endif
