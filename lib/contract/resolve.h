/*
 * resolve.h - documents added to a library, and where references lead in it.
 */
#ifndef MX_RESOLVE_H
#define MX_RESOLVE_H

#include "lib/contract/library.h"

/**
 * Adds a document and what is in it.
 *
 * uri       where it comes from
 * pointer   to the schema in it
 * out       filled with where that is
 *
 * Returns false on failure, which is noted.
 */
bool mx_library_add(struct mx_library *library, struct mcpx_slice uri, struct mcpx_slice text,
                    struct mcpx_slice pointer, struct mx_place *out);

/**
 * Follows a reference that stands at a place, perhaps to a document that has to be asked for.
 *
 * out      filled with where it leads
 * anchor   filled with the dynamic anchor that it leads to, or NULL; lent until a document is added
 *
 * Returns false when it leads nowhere, or on failure; both are noted.
 */
bool mx_library_follow(struct mx_library *library, struct mx_place from,
                       struct mcpx_slice reference, struct mx_place *out,
                       const struct mx_anchor **anchor);

#endif
