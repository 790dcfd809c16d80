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
#include <stdlib.h>

#define SECRET "0123456789abcdef0123456789abcdef"

static const struct mcpx_now now = {.mono_ms = 5, .wall_ms = 1800000000000};

/** What a test has: settings, the grant that was earned last, and the tokens signed last. */
static struct settled s;
static struct grant *grant;
static char *signed_tokens[8];

/** Good settings, in development mode or not. */
static inline void load_for(const char *text, bool dev)
{
    s = settled_load(text, NULL, dev);
    cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
}

static inline void load(const char *text)
{
    load_for(text, false);
}

/** The fini of a suite. */
static inline void unload(void)
{
    for (size_t i = 0; i < sizeof signed_tokens / sizeof *signed_tokens; i++)
        free(signed_tokens[i]);
    memset(signed_tokens, 0, sizeof signed_tokens);
    grant_unref(grant);
    grant = NULL;
    settled_fini(&s);
    s = (struct settled){.err = MCPX_OK};
}

/** What `bearer` is worth in `topic` by these settings. The grant is kept until the next one. */
static inline enum mcpx_err verify_by(const struct settled *settled, const char *bearer,
                                      const char *topic)
{
    grant_unref(grant);
    grant = NULL;
    return tokens_verify(settled->config.tokens, mcpx_slice_of(bearer), mcpx_slice_of(topic),
                         now, &grant);
}

static inline enum mcpx_err verify(const char *bearer, const char *topic)
{
    return verify_by(&s, bearer, topic);
}

/** The grant is this participant's; NULL: there is none. */
static inline void expect_earned(const char *participant, const char *what)
{
    cr_expect_eq(grant != NULL, participant != NULL, "%s", what);
    if (grant && participant)
        cr_expect(mcpx_slice_equal(grant->identity, mcpx_slice_of(participant)), "%s", what);
}

/** A token with these claims; good until eight more are signed. */
static inline const char *sign(const char *claims)
{
    static size_t next;
    char **kept = &signed_tokens[next++ % (sizeof signed_tokens / sizeof *signed_tokens)];
    char whole[512];

    snprintf(whole, sizeof whole, "{%s}", claims);
    free(*kept);
    return *kept = jwt_make("{\"alg\":\"HS256\"}", whole, "SHA256", SECRET);
}

#endif
