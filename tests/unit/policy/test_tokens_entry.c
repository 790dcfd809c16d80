/*
 * What breaks for whom: a token signed with a key that somebody trusts, made by who should not be
 * able to, or a way around what the configuration says of a participant. Protocol: section 7.
 */
#include "lib/base/scoped.h"
#include "tokens_fixture.h"

#include "router/policy/identity/tokens.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const char text[] =
    "{\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\",\"exp\":\"optional\"}},"
    "\"profiles\":{\"worker\":{\"grants\":[\"mcp/response:*\"],\"deny\":[\"chat\"],"
    "\"routing\":\"directed\"}},"
    "\"participants\":{"
    "\"fs\":{\"token_sha256\":"
    "\"367a1068b0b074382a8492cbb8eb7c3206dd9392226e41ab51e1af38e4dd58fc\","
    "\"topics\":[\"lobby\"]},"
    "\"both\":{\"jwt\":\"accepted\",\"instances\":3,\"token_sha256\":"
    "\"0000000000000000000000000000000000000000000000000000000000000001\","
    "\"topics\":[\"room-*\"],\"profile\":\"worker\"},"
    "\"never\":{\"jwt\":\"refused\",\"token_sha256\":"
    "\"0000000000000000000000000000000000000000000000000000000000000002\","
    "\"topics\":[\"*\"]}}}";

TestSuite(tokens_entry, .fini = unload);

/* Whoever is given one by dev mode could go with it to a router that serves people. */
Test(tokens_entry, of_dev_mode_are_never_signed_with_a_configured_secret)
{
    static const char *const environment[] = {"MCPX_AUTH_JWT_SECRET=" SECRET, NULL};
    struct settled grave = settled_load(NULL, environment, false);
    const char *token = sign("\"sub\":\"a\",\"topic\":\"t\",\"exp\":1800000100");
    mx_scoped_text made = {0};
    struct mcpx_fault fault;

    s = settled_load(NULL, environment, true);
    cr_expect_eq(verify(token, "t"), MCPX_OK, "good all the same");
    cr_assert_eq(tokens_issue(s.config.tokens, MCPX_SLICE("a"), MCPX_SLICE("t"),
                              (struct mcpx_slice){0}, now, &fault, &made),
                 MCPX_OK);
    cr_expect_eq(verify(made.text, "t"), MCPX_OK);
    cr_expect_eq(verify_by(&grave, made.text, "t"), MCPX_ETOKEN);
    settled_fini(&grave);
}

/* An entry says what its participant may do; no token is a way around it. */
Test(tokens_entry, that_name_a_configured_participant_earn_what_its_entry_says_or_nothing)
{
    static const struct {
        const char *claims, *topic;
        enum mcpx_err err;
    } cases[] = {
        {"\"sub\":\"fs\",\"topic\":\"lobby\",\"capabilities\":[\"*\"]", "lobby", MCPX_ETOKEN},
        {"\"sub\":\"fs\",\"topic\":\"lobby\"", "lobby", MCPX_ETOKEN},
        {"\"sub\":\"never\",\"topic\":\"lobby\"", "lobby", MCPX_ETOKEN},
        {"\"participantId\":\"never\",\"sub\":\"a\",\"topic\":\"lobby\"", "lobby",
         MCPX_ETOKEN},
        {"\"sub\":\"both\",\"topic\":\"room-1\"", "room-1", MCPX_OK},
        {"\"sub\":\"both\",\"topic\":\"room-1\"", NULL, MCPX_OK},
        {"\"sub\":\"both\",\"topic\":\"room-1\"", "room-2", MCPX_EFORBIDDEN},
        {"\"sub\":\"both\",\"topic\":\"lobby\"", "lobby", MCPX_EFORBIDDEN},
        {"\"sub\":\"both\"", "room-1", MCPX_EFORBIDDEN},
        {"\"sub\":\"both\",\"topic\":\"room-1\",\"capabilities\":[]", "room-1", MCPX_ETOKEN},
        {"\"sub\":\"both\",\"topic\":\"room-1\",\"capabilities\":[\"*\"]", "room-1",
         MCPX_ETOKEN},
        {"\"sub\":\"both\",\"topic\":\"room-1\",\"profile\":\"worker\"", "room-1",
         MCPX_ETOKEN},
        {"\"sub\":\"both\",\"topic\":\"room-1\",\"instances\":9", "room-1", MCPX_ETOKEN},
        {"\"sub\":\"other\",\"topic\":\"room-1\"", "room-1", MCPX_OK},
    };
    struct token_topic covered[] = {{.name = MCPX_SLICE("room-1")},
                                    {.name = MCPX_SLICE("lobby")}};
    const struct grant *own;
    const char *token;

    load(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(verify(sign(cases[i].claims), cases[i].topic), cases[i].err, "%s, %s",
                     cases[i].claims, cases[i].topic ? cases[i].topic : "any");
    }
    token = sign("\"sub\":\"both\",\"topic\":[\"room-1\",\"lobby\"],\"exp\":1800000100");
    cr_assert_eq(verify(token, "room-1"), MCPX_OK);
    own = tokens_find_id(s.config.tokens, MCPX_SLICE("both"))->grant;
    cr_expect_eq(grant->capset, own->capset);
    cr_expect_eq(grant->routing, own->routing);
    cr_expect_eq(grant->instances, 3);
    cr_expect_eq(grant->expires_ms, INT64_C(1800000100000));
    cr_expect_eq(tokens_check_topics(s.config.tokens,
                                     &(struct credentials){.bearer = mcpx_slice_of(token)},
                                     now, &(struct token_topics){covered, 2, SIZE_MAX}),
                 MCPX_OK);
    cr_expect(covered[0].covered && !covered[1].covered);
}

Test(tokens_entry, of_dev_mode_are_not_for_who_has_one)
{
    mx_scoped_text token = {0};
    struct mcpx_fault fault = {"", "", 0};

    load_for(text, true);
    cr_expect_eq(tokens_issue(s.config.tokens, MCPX_SLICE("fs"), MCPX_SLICE("t"),
                              (struct mcpx_slice){0}, now, &fault, &token),
                 MCPX_EREQUEST);
    cr_expect_str_eq(fault.field, "participantId");
}

Test(tokens_entry, of_dev_mode_are_signed_by_chance_otherwise)
{
    struct settled two = settled_load(NULL, NULL, true);
    mx_scoped_text token = {0};
    struct mcpx_fault fault;

    load_for(NULL, true);
    cr_assert_eq(tokens_issue(s.config.tokens, MCPX_SLICE("a"), MCPX_SLICE("t"),
                              (struct mcpx_slice){0}, now, &fault, &token),
                 MCPX_OK);
    cr_expect_eq(verify_by(&two, token.text, "t"), MCPX_ETOKEN);
    settled_fini(&two);
}
