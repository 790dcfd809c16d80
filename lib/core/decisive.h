/*
 * decisive.h - the members of an object that somebody decides by, found so that no other reader
 * can find others.
 */
#ifndef MX_DECISIVE_H
#define MX_DECISIVE_H

#include <mcpx/json.h>

/**
 * A member that decides.
 *
 * name    ASCII, not empty
 * value   filled: its value, or an absent slice
 */
struct mx_decisive {
    const char *name;
    struct mcpx_slice value;
};

/**
 * Finds members of an object in one pass.
 *
 * object    well-formed; anything but an object has no members
 * members   distinct names; values filled on success
 * fault     filled on failure: reason, and the name of the member; may be NULL
 *
 * Returns false when one of them stands twice, or when a member is named like one of them without
 * being it (mx_fold_compare). Protocol: section 9.
 */
bool mx_decisive_find(struct mcpx_slice object, struct mx_decisive *members, size_t count,
                      struct mcpx_fault *fault);

#endif
