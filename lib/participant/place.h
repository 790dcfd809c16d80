/*
 * place.h - how far a participant has read in its topic, as the router told it, so that a new
 * connection can go on there. Protocol: section 5.
 */
#ifndef MX_PLACE_H
#define MX_PLACE_H

#include <mcpx/session.h>

/** The longest epoch that is remembered. The router's have 32 bytes. */
enum { MX_EPOCH_MAX = 64 };

/**
 * A place: everything up to `serial`, and then up to the envelope `seen`. Zero-initialised is none.
 *
 * epoch_len   0 = no place is known
 * seen_len    0 = no envelope came since the router told the serial
 */
struct mx_place {
    char epoch[MX_EPOCH_MAX];
    size_t epoch_len;
    uint64_t serial;
    char seen[MCPX_ID_MAX];
    size_t seen_len;
};

/** No place is known any more. */
static inline void mx_place_forget(struct mx_place *place)
{
    place->epoch_len = place->seen_len = 0;
}

/**
 * Reads the place from the member `topic` of a payload of the router. When there is none, or it
 * cannot be read, nothing changes.
 */
void mx_place_told(struct mx_place *place, struct mcpx_slice payload);

/** An envelope came, with an id of 1..MCPX_ID_MAX bytes. */
void mx_place_saw(struct mx_place *place, struct mcpx_slice id);

#endif
