/*
 * scoped.h - variables that are cleaned up where their block ends, however it is left.
 */
#ifndef MX_SCOPED_H
#define MX_SCOPED_H

#include <mcpx/text.h>

/** Stands before the type of a variable: `fini` is then called with its address. */
#define MX_SCOPED(fini) __attribute__((cleanup(fini)))

/** A growing text that is so. */
#define mx_scoped_text MX_SCOPED(mcpx_text_fini) struct mcpx_text

#endif
