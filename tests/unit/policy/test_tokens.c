/*
 * What breaks for whom: a participant has what its token does not name. Protocol: sections 3, 7.
 */
#include "lib/base/scoped.h"
#include "router/policy/grants/grant_list.h"
#include "tests/support/rows.h"
#include "tokens_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* sha256 of "fs-token" and of "bare-token" */
static const char text[] =
    "{\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\",\"exp\":\"optional\"}},"
    "\"profiles\":{\"worker\":{\"grants\":[\"mcp/response:*\"],\"deny\":[\"chat\"],"
    "\"routing\":\"directed\"}},"
    "\"participants\":{"
    "\"fs\":{\"token_sha256\":"
    "\"367a1068b0b074382a8492cbb8eb7c3206dd9392226e41ab51e1af38e4dd58fc\","
    "\"topics\":[\"room-*\",\"lobby\"],\"profile\":\"worker\",\"grants\":[\"reasoning/*\"],"
    "\"routing\":\"all\"},"
    "\"bare\":{\"token_sha256\":"
    "\"d300834f86e0d535a0cbb861d176c4d69efefb7100083327b90a1f88a4f40fe6\"}}}";

TestSuite(tokens, .fini = unload);

Test(tokens, knows_static_tokens_by_their_hash)
{
    static const struct {
        const char *bearer, *topic, *participant; /* NULL: nobody */
        enum mcpx_err err;
    } rows[] = {
        {"fs-token", "room-1", "fs", MCPX_OK},
        {"fs-token", "room-", "fs", MCPX_OK},
        {"fs-token", "lobby", "fs", MCPX_OK},
        {"fs-token", NULL, "fs", MCPX_OK},
        {"fs-token", "lobby2", NULL, MCPX_EFORBIDDEN},
        {"fs-token", "Room-1", NULL, MCPX_EFORBIDDEN},
        {"fs-token", "", NULL, MCPX_EFORBIDDEN},
        {"bare-token", "room-1", NULL, MCPX_EFORBIDDEN},
        {"bare-token", NULL, "bare", MCPX_OK},
        {"fs-toke", "room-1", NULL, MCPX_ETOKEN},
        {"fs-token ", "room-1", NULL, MCPX_ETOKEN},
        {"FS-TOKEN", "room-1", NULL, MCPX_ETOKEN},
        {"", "room-1", NULL, MCPX_ETOKEN},
        {NULL, "room-1", NULL, MCPX_ETOKEN},
        {"367a1068b0b074382a8492cbb8eb7c3206dd9392226e41ab51e1af38e4dd58fc", NULL, NULL,
         MCPX_ETOKEN},
    };

    load(text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect_eq(verify(rows[i].bearer, rows[i].topic), rows[i].err, "%s in %s",
                     rows[i].bearer, rows[i].topic);
        expect_earned(rows[i].participant, rows[i].bearer);
    }
}

/* Most of them share the first eight bytes of the digest of "fs-token". */
Test(tokens, find_everybody_among_many)
{
    static const struct {
        const char *bearer, *participant;
    } rows[] = {{"fs-token", "fs"}, {"bare-token", "bare"}, {"other", NULL}};
    mx_scoped_text many = {0};

    mcpx_text_puts(&many, "{\"participants\":{\"fs\":{\"token_sha256\":\"367a1068b0b07438"
                          "2a8492cbb8eb7c3206dd9392226e41ab51e1af38e4dd58fc\"}");
    for (int i = 0; i < 500; i++) {
        char line[240];

        snprintf(line, sizeof line,
                 ",\"x%d\":{\"token_sha256\":\"367a1068b0b07438%048d\"}"
                 ",\"y%d\":{\"token_sha256\":\"%08d%056d\"}",
                 i, i, i, i, i);
        mcpx_text_puts(&many, line);
    }
    mcpx_text_puts(&many, ",\"bare\":{\"token_sha256\":\"d300834f86e0d535"
                          "a0cbb861d176c4d69efefb7100083327b90a1f88a4f40fe6\"}}}");
    load(many.text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        verify(rows[i].bearer, NULL);
        expect_earned(rows[i].participant, rows[i].bearer);
    }
}

Test(tokens, joins_the_grants_of_profile_and_participant)
{
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind, .wall_ms = now.wall_ms};

    load(text);
    cr_assert_eq(verify("fs-token", "lobby"), MCPX_OK);
    cr_expect_str_eq(grant->capabilities.text, "[\"mcp/response:*\",\"reasoning/*\"]");
    cr_expect_eq(grant->routing, ROUTING_ALL, "its own routing, not its profile's");
    cr_expect_eq(grant->expires_ms, 0);
    cr_assert_eq(mcpx_kind_parse(MCPX_SLICE("reasoning/start"), &kind, NULL), MCPX_OK);
    cr_expect(mcpx_capset_allows(grant->capset, &question));
    cr_assert_eq(mcpx_kind_parse(MCPX_SLICE("chat"), &kind, NULL), MCPX_OK);
    cr_expect_not(mcpx_capset_allows(grant->capset, &question));
}

static void expect_granted(char *const row[])
{
    cr_expect_eq(verify(sign(row[0]), "t"), MCPX_OK, "%s", row[0]);
    expect_earned("a", row[0]);
    if (grant)
        cr_expect_str_eq(grant->capabilities.text, row[1]);
}

static void expect_forbidden(char *const row[])
{
    cr_expect_eq(verify(sign(row[0]), "t"), MCPX_EFORBIDDEN, "%s", row[0]);
    expect_earned(NULL, row[0]);
}

static void expect_refused(char *const row[])
{
    cr_expect_eq(verify(sign(row[0]), "t"), MCPX_ETOKEN, "%s", row[0]);
    expect_earned(NULL, row[0]);
}

Test(tokens, turns_claims_into_a_grant)
{
    load(text);
    rows_each("policy/rows/tokens", "granted", expect_granted);
    rows_each("policy/rows/tokens", "forbidden", expect_forbidden);
    rows_each("policy/rows/tokens", "of a wrong shape", expect_refused);
}

Test(tokens, asks_for_no_topic_where_none_is_meant)
{
    load(text);
    cr_expect_eq(verify(sign("\"sub\":\"a\""), NULL), MCPX_OK);
}

Test(tokens, say_how_many_instances_there_may_be)
{
    static const struct {
        const char *claims;
        unsigned instances; /* 0 = as many as the router says */
    } numbers[] = {
        {"\"sub\":\"a\"", 0},
        {"\"sub\":\"a\",\"instances\":1", 1},
        {"\"sub\":\"a\",\"instances\":64", 64},
    };

    load(text);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        cr_assert_eq(verify(sign(numbers[i].claims), NULL), MCPX_OK, "%s", numbers[i].claims);
        cr_expect_eq(grant->instances, numbers[i].instances, "%s", numbers[i].claims);
    }
}

Test(tokens, end_when_they_say_and_not_before_they_begin)
{
    static const struct {
        const char *claims;
        int64_t expires_ms;
    } dates[] = {
        {"\"sub\":\"a\"", 0},
        {"\"sub\":\"a\",\"exp\":1800000100", 1800000100000},
        {"\"sub\":\"a\",\"exp\":1800000000.5", 1800000000500},
        {"\"sub\":\"a\",\"exp\":1799999950", 1800000010000}, /* good by the leeway alone */
        {"\"sub\":\"a\",\"exp\":1e18", 253402300799000},
    };

    load(text);
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        cr_assert_eq(verify(sign(dates[i].claims), NULL), MCPX_OK, "%s", dates[i].claims);
        cr_expect_eq(grant->expires_ms, dates[i].expires_ms, "%s: %lld", dates[i].claims,
                     (long long)grant->expires_ms);
    }
}

Test(tokens, share_one_set_between_equal_capabilities)
{
    const char *const tokens[] = {
        sign("\"sub\":\"a\",\"capabilities\":[\"chat\",\"mcp/*\"]"),
        sign("\"sub\":\"b\",\"capabilities\":[ \"chat\" , \"mcp\\/*\" ]"),
        sign("\"sub\":\"c\",\"capabilities\":[\"mcp/*\",\"chat\"]"),
        sign("\"sub\":\"d\""),
        sign("\"sub\":\"e\",\"capabilities\":[]"),
    };
    struct grant *grants[5];

    load(text);
    for (size_t i = 0; i < 5; i++) {
        cr_assert_eq(verify(tokens[i], NULL), MCPX_OK);
        grants[i] = grant_ref(grant);
    }
    cr_expect_eq(grants[0]->capset, grants[1]->capset);
    cr_expect_neq(grants[0]->capset, grants[2]->capset);
    cr_expect_str_eq(grants[3]->capabilities.text, "[]");
    cr_expect_str_eq(grants[4]->capabilities.text, "[]");
    unload(); /* grants given out stay valid */
    for (size_t i = 0; i < 5; i++) {
        cr_expect_eq(mcpx_capset_count(grants[i]->capset), i < 3 ? 2 : 0);
        grant_unref(grants[i]);
    }
}

Test(tokens, remember_a_bounded_number_of_sets)
{
    struct grant *kept;

    load(text);
    cr_assert_eq(verify(sign("\"sub\":\"a\",\"capabilities\":[\"kept\"]"), NULL), MCPX_OK);
    kept = grant_ref(grant);
    for (int i = 0; i < 2500; i++) {
        char claims[64], json[32];

        snprintf(json, sizeof json, "[\"kind-%d\"]", i);
        snprintf(claims, sizeof claims, "\"sub\":\"a\",\"capabilities\":%s", json);
        cr_assert_eq(verify(sign(claims), NULL), MCPX_OK);
        cr_expect_str_eq(grant->capabilities.text, json);
    }
    cr_expect_str_eq(kept->capabilities.text, "[\"kept\"]");
    grant_unref(kept);
}

Test(tokens, issues_what_it_verifies)
{
    mx_scoped_text token = {0};
    struct mcpx_fault fault = {0};

    load_for("{\"auth\":{\"jwt\":{\"issuer\":\"i\",\"audience\":\"u\"}}}", true);
    cr_assert_eq(tokens_issue(s.config.tokens, MCPX_SLICE("a"), MCPX_SLICE("t"),
                              (struct mcpx_slice){0}, now, &fault, &token),
                 MCPX_OK);
    cr_assert_eq(verify(token.text, "t"), MCPX_OK, "%s", token.text);
    cr_expect_str_eq(grant->capabilities.text, "[\"mcp/*\",\"chat\"]");
    cr_expect_eq(grant->expires_ms, now.wall_ms + 86400000);
    cr_expect_eq(verify(token.text, "s"), MCPX_EFORBIDDEN);
}

Test(tokens, says_what_is_wrong_with_a_request_for_one)
{
    static const struct {
        const char *participant, *topic, *capabilities;
        enum mcpx_err err;
        const char *field;
    } requests[] = {
        {"system:x", "t", NULL, MCPX_EREQUEST, "participantId"},
        {"", "t", NULL, MCPX_EREQUEST, "participantId"},
        {"a", "", NULL, MCPX_EREQUEST, "topic"},
        {"a", "t\n", NULL, MCPX_EREQUEST, "topic"},
        {"a", "t", "{}", MCPX_EREQUEST, "capabilities"},
        {"a", "t", "[", MCPX_EREQUEST, "capabilities"},
        {"a", "t", "", MCPX_EREQUEST, "capabilities"},
        {"a", "t", "[{\"kind\":\"chat\",\"to\":7}]", MCPX_EREQUEST, "to"},
        {"a", "t", "[\"a//b\"]", MCPX_EPATTERN, NULL},
    };

    load_for(NULL, true);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct mcpx_fault fault = {.reason = "", .field = ""};
        struct mcpx_text token = {0};

        cr_expect_eq(tokens_issue(s.config.tokens, mcpx_slice_of(requests[i].participant),
                                  mcpx_slice_of(requests[i].topic),
                                  mcpx_slice_of(requests[i].capabilities), now, &fault,
                                  &token),
                     requests[i].err, "row %zu", i);
        cr_expect_eq(token.len, 0);
        cr_expect_neq(*fault.reason, '\0', "row %zu", i);
        if (requests[i].field)
            cr_expect_str_eq(fault.field, requests[i].field);
        mcpx_text_fini(&token);
    }
}

Test(tokens, say_what_is_wrong_with_a_list_of_grants)
{
    struct mcpx_fault fault = {.reason = "", .field = ""};
    struct mcpx_capset *set = NULL;
    json_auto_t *many = json_array(), *wrong = json_pack("[s]", "a//b"),
                *none = json_integer(7);

    for (int i = 0; i < 1025; i++)
        json_array_append_new(many, json_string("chat"));
    cr_expect_eq(capset_compile(many, &fault, &set), MCPX_EREQUEST);
    cr_expect_str_eq(fault.reason, "expected at most 1024 patterns of 65536 bytes");
    cr_expect_eq(capset_compile(none, &fault, &set), MCPX_EREQUEST);
    cr_expect_eq(capset_compile(wrong, &fault, &set), MCPX_EPATTERN);
    cr_expect_null(set);
}

Test(tokens, issues_none_without_a_key)
{
    struct mcpx_text token = {0};
    struct mcpx_fault fault;

    load_for(NULL, false);
    cr_expect_eq(tokens_issue(s.config.tokens, MCPX_SLICE("a"), MCPX_SLICE("t"),
                              (struct mcpx_slice){0}, now, &fault, &token),
                 MCPX_ENOTFOUND);
}

static const char *why_refused(const char *token)
{
    const char *why = NULL;
    struct credentials credentials = {.bearer = mcpx_slice_of(token), .why = &why};
    struct grant *earned = NULL;

    (void)tokens_ask(s.config.tokens, &credentials, (struct mcpx_slice){0}, now, &earned);
    cr_expect_eq(earned != NULL, why == NULL, "%s", why);
    grant_unref(earned);
    return why;
}

/* Somebody's agent stays outside, and the log says which of the claims keeps it there. */
Test(tokens, names_the_claim_that_a_token_is_refused_for)
{
    static const struct {
        const char *claims, *why; /* its beginning; NULL: nothing is wrong */
    } refused[] = {
        {"\"sub\":\"ann\",\"topic\":\"a\",\"profile\":\"worker\"", NULL},
        {"\"topic\":\"a\"", "its participantId"},
        {"\"sub\":\"ann\",\"topic\":[\"a\",7]", "its topic"},
        {"\"sub\":\"ann\",\"profile\":\"boss\"", "its profile"},
        {"\"sub\":\"ann\",\"capabilities\":[\"a::b\"]", "its capabilities"},
        {"\"sub\":\"ann\",\"instances\":65", "its instances"},
        {"\"sub\":\"fs\"", "its participant is one of the configuration"},
    };

    load(text);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *why = why_refused(sign(refused[i].claims));

        cr_expect_eq(why != NULL, refused[i].why != NULL, "%s: %s", refused[i].claims, why);
        if (why && refused[i].why)
            cr_expect(strstr(why, refused[i].why) == why, "%s: %s", refused[i].claims, why);
    }
    cr_expect_null(why_refused("fs-token"));
}
