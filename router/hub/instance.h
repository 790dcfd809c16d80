/*
 * instance.h - which of a participant's instances will a joiner be, and whom does it replace?
 */
#ifndef HUB_INSTANCE_H
#define HUB_INSTANCE_H

#include "router/hub/peer.h"

/**
 * The place an admission comes to.
 *
 * number   of the instance
 * key      hash of what it may be claimed with again; 0 = nothing
 * old      the peer it replaces; NULL = none
 * id_len   of the id, which stands in `text`
 */
struct instance {
    unsigned number;
    uint64_t key;
    struct peer *old;
    size_t id_len;
    char text[MCPX_ID_MAX];
};

/** The id the instance will have; lent as long as it is. */
static inline struct mcpx_slice instance_id(const struct instance *instance)
{
    return (struct mcpx_slice){instance->text, instance->id_len};
}

/**
 * Finds the place. Protocol: section 7.
 *
 * topic   where; NULL = a new one, where nobody is
 *
 * Returns MCPX_OK with `out` filled; MCPX_EPRESENT, MCPX_EFLAPPING as hub_may_admit;
 * MCPX_EINSTANCES when all numbers of the participant are taken.
 */
enum mcpx_err instance_find(const struct hub *hub, const struct topic *topic,
                            const struct grant *grant, const struct admission *admission,
                            struct mcpx_now now, struct instance *out);

#endif
