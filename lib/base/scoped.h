/* scoped.h - variables cleaned up at the end of their block, also on return or break. */
#ifndef MX_SCOPED_H
#define MX_SCOPED_H

#include <mcpx/text.h>

/** Stands before the type of a variable: `fini` is then called with its address. */
#define MX_SCOPED(fini) __attribute__((cleanup(fini)))

/** A growing text, freed at the end of its block. */
#define mx_scoped_text MX_SCOPED(mcpx_text_fini) struct mcpx_text

#endif
