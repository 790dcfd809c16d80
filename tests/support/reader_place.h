/*
 * reader_place.h - what a reader has to remember to resume, as section 5 of the protocol says it to
 * those who write clients, and nothing of how the library does it.
 */
#ifndef SUPPORT_READER_PLACE_H
#define SUPPORT_READER_PLACE_H

#include "router/hub/hub.h"
#include "router/hub/topic/query.h"

#include <jansson.h>

/** The place told last, and the id of the envelope seen since; "" = none. */
struct reader_place {
    char epoch[65];
    uint64_t serial;
    char after[MCPX_ID_MAX + 1];
};

/** The member of an object if it is a string; "" else. */
const char *reader_string(const json_t *object, const char *name);

/** A message came. */
void reader_place_note(struct reader_place *place, const json_t *envelope);

/** Names the place in an admission, which borrows it. */
void reader_place_ask(const struct reader_place *place, struct admission *admission);

#endif
