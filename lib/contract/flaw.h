/*
 * flaw.h - what is wrong with a call: why, where, and what is expected there.
 */
#ifndef MX_FLAW_H
#define MX_FLAW_H

#include <mcpx/contract.h>

/**
 * A flaw. Zero-initialised there is none. It keeps its memory.
 *
 * is_found   there is one
 * path       of the first error; absent: no error has a place. `expected` is what belongs there
 * errors     JSON array; empty: there are none
 * reason     a sentence for people; empty: none but that of the cause
 * more       members of an error's `data`; empty: none
 */
struct mx_flaw {
    bool is_found;
    bool has_path;
    enum mcpx_cause cause;
    struct mcpx_text path;
    struct mcpx_text expected;
    struct mcpx_text errors;
    struct mcpx_text reason;
    struct mcpx_text more;
};

/** Frees its memory and leaves none. */
void mx_flaw_fini(struct mx_flaw *flaw);

/** There is none any more. */
void mx_flaw_reset(struct mx_flaw *flaw);

/** There is one that has no place. Returns MCPX_EINVALID. */
enum mcpx_err mx_flaw_set(struct mx_flaw *flaw, enum mcpx_cause cause);

/** There is one, at this place. Returns MCPX_EINVALID, or MCPX_ENOMEM. */
enum mcpx_err mx_flaw_at(struct mx_flaw *flaw, enum mcpx_cause cause,
                         const struct mcpx_schema_error *error);

/**
 * There is what a report says; its paths begin with `prefix`. MCPX_EINVALID, or MCPX_ENOMEM.
 */
enum mcpx_err mx_flaw_report(struct mx_flaw *flaw, enum mcpx_cause cause, const char *prefix,
                             const struct mcpx_schema_report *report);

/** Something is too long: `what`, such as "arguments have", then its bytes. MCPX_EINVALID. */
enum mcpx_err mx_flaw_size(struct mx_flaw *flaw, enum mcpx_cause cause, const char *what,
                           size_t bytes, size_t max);

/** True when a text of it is not complete, because memory ran out. */
bool mx_flaw_has_failed(const struct mx_flaw *flaw);

#endif
