/*
 * What breaks for whom: somebody is shown the name of a room that its token does not open, or is
 * not shown one that it does. Protocol: sections 7 and 8.
 */
#include "router/policy/identity/tokens_make.h"
#include "tests/support/bearer.h"

#include <criterion/criterion.h>

static const struct mcpx_now now = {.mono_ms = 5, .wall_ms = 1795303080000};

static struct tokens *make_tokens(void)
{
    struct tokens *tokens = tokens_new(NULL);

    cr_assert(tokens);
    cr_assert_eq(jwt_ring_add(&tokens->ring, SECRET_KEY("k1", "HS256"),
                              MCPX_SLICE("0123456789abcdef0123456789abcdef")),
                 MCPX_OK);
    return tokens;
}

static void sign(struct tokens *tokens, const char *claims, struct mcpx_text *token)
{
    json_auto_t *object = json_loads(claims, 0, NULL);

    cr_assert(object, "%s", claims);
    cr_assert_eq(jwt_sign(&tokens->ring, object, token), MCPX_OK);
}

Test(tokens_check_topics, agrees_with_what_verify_says_topic_by_topic)
{
    static const struct {
        const char *claims, *covered; /* one letter per topic: y or n; NULL: no good token */
    } rows[] = {
        {"{\"sub\":\"ann\",\"topic\":\"a\"}", "ynn"},
        {"{\"sub\":\"ann\",\"topic\":[\"c\",\"a\"]}", "yny"},
        {"{\"sub\":\"ann\",\"topic\":[]}", "nnn"},
        {"{\"sub\":\"ann\",\"topic\":\"*\"}", "nnn"},
        {"{\"sub\":\"ann\"}", "nnn"},
        {"{\"sub\":\"ann\",\"topic\":[\"a\",7]}", NULL},
        {"{\"sub\":7,\"topic\":\"a\"}", NULL},
        {"{\"sub\":\"ann\",\"topic\":\"a\",\"capabilities\":\"chat\"}", NULL},
        {"{\"sub\":\"ann\",\"topic\":\"a\",\"exp\":1}", NULL},
    };
    struct tokens *tokens = make_tokens();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct token_topic topics[] = {
            {MCPX_SLICE("a"), true}, {MCPX_SLICE("b"), true}, {MCPX_SLICE("c"), true}};
        struct token_topics some = {topics, 3, SIZE_MAX};
        struct mcpx_text token = {0};
        enum mcpx_err err;

        sign(tokens, rows[i].claims, &token);
        err = tokens_check_topics(
            tokens, &(struct credentials){.bearer = mcpx_text_view(&token)}, now, &some);
        cr_expect_eq(err, rows[i].covered ? MCPX_OK : MCPX_ETOKEN, "%s", rows[i].claims);
        for (size_t t = 0; t < 3; t++) {
            struct grant *grant = NULL;
            enum mcpx_err verified =
                tokens_verify(tokens, mcpx_text_view(&token), topics[t].name, now, &grant);
            bool covered = rows[i].covered ? topics[t].covered : false;

            grant_unref(grant);
            cr_expect_eq(covered, verified == MCPX_OK, "%s, topic %zu", rows[i].claims, t);
            cr_expect(!rows[i].covered || covered == (rows[i].covered[t] == 'y'),
                      "%s, topic %zu", rows[i].claims, t);
            cr_expect(rows[i].covered || topics[t].covered, "%s: touched", rows[i].claims);
        }
        mcpx_text_fini(&token);
    }
    tokens_free(tokens);
}

/* A participant with hundreds of patterns asks for its topics, and everybody waits. */
Test(tokens_check_topics, ends_when_the_work_is_done_but_goes_on_each_time)
{
    static const struct {
        size_t work, count;
    } rows[] = {{0, 1}, {1, 1}, {1000000, 3}};
    struct tokens *tokens = make_tokens();
    struct mcpx_text token = {0};

    sign(tokens, "{\"sub\":\"ann\",\"topic\":\"a\"}", &token);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct token_topic topics[] = {
            {MCPX_SLICE("a"), false}, {MCPX_SLICE("b"), true}, {MCPX_SLICE("c"), true}};
        struct token_topics some = {topics, 3, rows[i].work};

        cr_assert_eq(
            tokens_check_topics(
                tokens, &(struct credentials){.bearer = mcpx_text_view(&token)}, now, &some),
            MCPX_OK);
        cr_expect_eq(some.count, rows[i].count, "%zu", i);
        cr_expect(topics[0].covered);
        cr_expect_eq(topics[2].covered, some.count < 3, "%zu", i);
    }
    mcpx_text_fini(&token);
    tokens_free(tokens);
}
