/*
 * tokens_fixture.h - settings with tokens, tokens signed for them, and what these are worth at one
 * moment.
 */
#ifndef TOKENS_FIXTURE_H
#define TOKENS_FIXTURE_H

#include "tests/support/bearer.h"
#include "tests/support/jwt.h"
#include "tests/support/settled.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define SECRET "0123456789abcdef0123456789abcdef"

static const struct mcpx_now now = {.mono_ms = 5, .wall_ms = 1800000000000};

/** Good settings. */
static inline struct settled load(const char *text)
{
    struct settled s = settled_load(text, NULL, false);

    cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
    return s;
}

/** What `bearer` is worth in `topic`. */
static inline enum mcpx_err verify(struct settled *s, const char *bearer, const char *topic,
                                   struct grant **grant)
{
    *grant = NULL;
    return tokens_verify(s->config.tokens, mcpx_slice_of(bearer), mcpx_slice_of(topic), now,
                         grant);
}

/** A token with these claims. The caller frees it. */
static inline char *sign(const char *claims)
{
    char whole[512];

    snprintf(whole, sizeof whole, "{%s}", claims);
    return jwt_make("{\"alg\":\"HS256\"}", whole, "SHA256", SECRET);
}

#endif
