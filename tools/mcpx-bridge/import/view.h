/*
 * view.h - what an import takes of the outside world besides its inputs.
 */
#ifndef MCPX_BRIDGE_IMPORT_VIEW_H
#define MCPX_BRIDGE_IMPORT_VIEW_H

#include "tools/mcpx-bridge/terms.h"

#include <mcpx/kind.h>

/**
 * Questions only, so they are called, and nothing else is. Without terms `could` and `now` are not
 * needed.
 *
 * could    whether that participant of a topic could send this kind, by the capabilities that the
 *          router shows
 * now      the clocks, asked at this moment: finer than what an input is told
 * chance   random bytes; not asked with deterministic ids. NULL: there are none
 * unsent   what a topic's session has not sent yet: how many messages, of how many bytes together.
 *          False: it ends, so answers that wait are given to it now. NULL: nothing ever
 */
struct import_view {
    void *user;
    bool (*could)(void *user, size_t topic, struct mcpx_slice participant,
                  const struct mcpx_kind *kind);
    struct mcpx_instant (*now)(void *user);
    void (*chance)(void *user, void *bytes, size_t len);
    bool (*unsent)(void *user, size_t topic, size_t *count, size_t *bytes);
};

#endif
