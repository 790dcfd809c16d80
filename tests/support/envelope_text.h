/*
 * envelope_text.h - envelopes as string literals, for tests: what every one needs, to which rows
 * add a member or two.
 */
#ifndef ENVELOPE_TEXT_H
#define ENVELOPE_TEXT_H

#include "tests/support/count.h"
#include <mcpx/base.h>

#define PROTOCOL "\"protocol\":\"mcpx/v0.1\","
#define ID "\"id\":\"e1\","
#define KIND "\"kind\":\"chat\","
#define PAYLOAD "\"payload\":{}"

/* A whole envelope; `members` end with a comma. */
#define ENVELOPE(members) "{" PROTOCOL ID KIND members PAYLOAD "}"

/* Initialisers for a struct mcpx_slice in a table. */
#define T(literal)                                                                            \
    {                                                                                         \
        literal, sizeof(literal) - 1                                                          \
    }
#define WITH(members) T(ENVELOPE(members))

#endif
