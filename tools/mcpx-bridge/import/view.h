/*
 * view.h - what calls under terms take of the outside world.
 */
#ifndef MCPX_BRIDGE_IMPORT_VIEW_H
#define MCPX_BRIDGE_IMPORT_VIEW_H

#include "tools/mcpx-bridge/terms.h"

#include <mcpx/kind.h>

/**
 * Questions only, so they are called, and nothing else is. Not needed without terms.
 *
 * could    whether that participant of a topic could send this kind, by the capabilities that the
 *          router shows
 * now      the clocks, asked at this moment: finer than what an input is told
 * chance   random bytes; not asked with deterministic ids
 */
struct import_view {
    void *user;
    bool (*could)(void *user, size_t topic, struct mcpx_slice participant,
                  const struct mcpx_kind *kind);
    struct mcpx_instant (*now)(void *user);
    void (*chance)(void *user, void *bytes, size_t len);
};

#endif
