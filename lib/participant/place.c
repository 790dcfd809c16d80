/*
 * place.c - an id alone was refused as a place: an id may be used again once its envelope is
 * forgotten, and the router would then continue after the wrong envelope. Serials cannot be
 * forged, since only the router counts them. The epoch names the log in which they are counted.
 */
#include "lib/participant/place.h"

#include "lib/core/decimal.h"
#include <mcpx/json.h>

void mx_place_told(struct mx_place *place, struct mcpx_slice payload)
{
    struct mcpx_slice topic = mcpx_json_get(payload, "topic");
    struct mcpx_slice epoch = mcpx_json_get(topic, "epoch");
    uint64_t serial;

    if (mcpx_json_type(epoch) != MCPX_JSON_STRING || epoch.len < 3 ||
        epoch.len > MX_EPOCH_MAX + 2 || memchr(epoch.text, '\\', epoch.len) ||
        !mx_decimal_read(mcpx_json_get(topic, "serial"), UINT64_MAX, &serial))
        return;
    place->epoch_len = epoch.len - 2; /* without its quotes */
    memcpy(place->epoch, epoch.text + 1, place->epoch_len);
    place->serial = serial;
    place->seen_len = 0;
}

void mx_place_saw(struct mx_place *place, struct mcpx_slice id)
{
    memcpy(place->seen, id.text, id.len);
    place->seen_len = id.len;
}
