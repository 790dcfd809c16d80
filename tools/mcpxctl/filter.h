/*
 * filter.h - which envelopes a reader wants to see.
 */
#ifndef MCPXCTL_FILTER_H
#define MCPXCTL_FILTER_H

#include "tools/common/command.h"

#include <mcpx/capability.h>
#include <mcpx/envelope.h>

/**
 * A choice. Zero-initialised lets everything pass.
 *
 * kinds   patterns that cover the kinds wanted; NULL = all
 * from    the only sender wanted; absent = all
 */
struct filter {
    struct mcpx_capset *kinds;
    struct mcpx_slice from;
};

/**
 * Makes a filter. A pattern means what it means in a grant (protocol section 3), except that one
 * covering everything covers the router's own kinds too.
 *
 * pattern   NULL = all kinds
 * from      NULL = all senders; else this one and its instances; borrowed
 *
 * Returns as mcpx_capset_new, with `fault` filled on MCPX_EPATTERN.
 */
enum mcpx_err filter_new(const char *pattern, const char *from, struct mcpx_fault *fault,
                         struct filter *out);

/**
 * Makes the filter that --kind and --from ask for. Returns STATUS_OK or an exit code, having
 * complained.
 */
int filter_read(const struct arguments *arguments, struct filter *out);

/** Frees what it holds. */
void filter_fini(struct filter *filter);

/** Whether the sender passes. */
bool filter_passes_from(const struct filter *filter, struct mcpx_slice from);

/** Whether the envelope with this kind and sender passes. */
bool filter_passes(const struct filter *filter, const struct mcpx_kind *kind,
                   struct mcpx_slice from);

#endif
