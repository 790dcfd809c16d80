/*
 * What breaks for whom: an administrator who changes the configuration of a running router.
 * Somebody removed stays, somebody with a new token keeps the old one, or somebody whom the change
 * does not concern is thrown out or told of it. Protocol: section 7.
 */
#include "tests/support/bearer.h"
#include "tests/support/jwt.h"
#include "tests/support/settled.h"

#include "lib/base/scoped.h"
#include "lib/protocol/capset.h"
#include "router/policy/identity/tokens.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define ONE "0123456789abcdef0123456789abcdef"
#define TWO "fedcba9876543210fedcba9876543210"
/* sha256 of "fs-token" and of "bare-token" */
#define FS                                                                                    \
    "\"token_sha256\":\"367a1068b0b074382a8492cbb8eb7c3206dd9392226e41ab51e1af38e4dd58fc\","
#define BARE                                                                                  \
    "\"token_sha256\":\"d300834f86e0d535a0cbb861d176c4d69efefb7100083327b90a1f88a4f40fe6\","

#define KEYS(keys) "\"auth\":{\"jwt\":{" keys "}}"
#define KEY(kid, secret) "{\"kid\":\"" kid "\",\"alg\":\"HS256\",\"secret\":\"" secret "\"}"
#define PEOPLE(people) "\"participants\":{" people "}"
#define ROOMS "\"topics\":[\"room-*\"]"

/* "fs" of the rooms, with more members; keys of a secret alone; a participant whose JWT is good. */
#define FS_WITH(more) PEOPLE("\"fs\":{" FS ROOMS more "}")
#define SECRET_ONE KEYS("\"secret\":\"" ONE "\"")
#define ACCEPTED(more) SECRET_ONE "," FS_WITH(",\"jwt\":\"accepted\"" more)
#define PROFILE(grants) SECRET_ONE ",\"profiles\":{\"p\":{\"grants\":[" grants "]}}"

static const struct mcpx_now now = {.mono_ms = 5, .wall_ms = 1800000000000};
static const struct mcpx_now later = {.mono_ms = 9, .wall_ms = 1800000100000};

/*
 * A token, the configuration under which it is good for room-1, another one, and what it is worth
 * there. `claims` NULL: the token of a configured participant, "fs-token".
 */
static const struct {
    const char *name, *claims, *kid, *before, *after;
    enum mcpx_err err;
    bool equal;
} rows[] = {
    {"nothing has changed", NULL, NULL, FS_WITH(""), FS_WITH(""), MCPX_OK, true},
    {"somebody else was added", NULL, NULL, FS_WITH(""),
     PEOPLE("\"b\":{" BARE ROOMS "},\"fs\":{" FS ROOMS "}"), MCPX_OK, true},
    {"more topics", NULL, NULL, FS_WITH(""), PEOPLE("\"fs\":{" FS "\"topics\":[\"*\"]}"),
     MCPX_OK, true},
    {"another grant", NULL, NULL, FS_WITH(""), FS_WITH(",\"grants\":[\"chat\"]"), MCPX_OK,
     false},
    {"a denial", NULL, NULL, FS_WITH(",\"grants\":[\"chat\"]"),
     FS_WITH(",\"grants\":[\"chat\"],\"deny\":[\"chat\"]"), MCPX_OK, false},
    {"another addressee", NULL, NULL,
     FS_WITH(",\"grants\":[{\"kind\":\"chat\",\"to\":[\"a\"]}]"),
     FS_WITH(",\"grants\":[{\"kind\":\"chat\",\"to\":[\"b\"]}]"), MCPX_OK, false},
    {"another end of a grant", NULL, NULL,
     FS_WITH(",\"grants\":[{\"kind\":\"chat\",\"expires\":\"2030-01-01T00:00:00Z\"}]"),
     FS_WITH(",\"grants\":[{\"kind\":\"chat\",\"expires\":\"2031-01-01T00:00:00Z\"}]"),
     MCPX_OK, false},
    {"other routing", NULL, NULL, FS_WITH(""), FS_WITH(",\"routing\":\"directed\""), MCPX_OK,
     false},
    {"other instances", NULL, NULL, FS_WITH(""), FS_WITH(",\"instances\":3"), MCPX_OK, false},
    {"the entry is gone", NULL, NULL, FS_WITH(""), PEOPLE(""), MCPX_ENOTFOUND, false},
    {"the token is somebody else's", NULL, NULL, FS_WITH(""), PEOPLE("\"b\":{" FS ROOMS "}"),
     MCPX_ENOTFOUND, false},
    {"another token", NULL, NULL, FS_WITH(""), PEOPLE("\"fs\":{" BARE ROOMS "}"), MCPX_ETOKEN,
     false},
    {"another topic", NULL, NULL, FS_WITH(""), PEOPLE("\"fs\":{" FS "\"topics\":[\"hall\"]}"),
     MCPX_EFORBIDDEN, false},

    {"the same key", "\"sub\":\"ann\",\"capabilities\":[\"chat\"]", NULL, SECRET_ONE,
     SECRET_ONE, MCPX_OK, true},
    {"the key beside another one", "\"sub\":\"ann\"", "a",
     KEYS("\"keys\":[" KEY("a", ONE) "]"),
     KEYS("\"keys\":[" KEY("b", TWO) "," KEY("a", ONE) "]"), MCPX_OK, true},
    {"the key is gone", "\"sub\":\"ann\"", "a", KEYS("\"keys\":[" KEY("a", ONE) "]"),
     KEYS("\"keys\":[" KEY("a", TWO) "]"), MCPX_ETOKEN, false},
    {"the key has another name", "\"sub\":\"ann\"", "a", KEYS("\"keys\":[" KEY("a", ONE) "]"),
     KEYS("\"keys\":[" KEY("b", ONE) "]"), MCPX_ETOKEN, false},
    {"the key has another name, which the token does not know", "\"sub\":\"ann\"", NULL,
     KEYS("\"keys\":[" KEY("a", ONE) "]"), KEYS("\"keys\":[" KEY("b", ONE) "]"), MCPX_OK,
     true},
    {"the key is for another algorithm", "\"sub\":\"ann\"", NULL,
     KEYS("\"keys\":[" KEY("a", ONE) "]"),
     KEYS("\"keys\":[{\"alg\":\"HS384\",\"secret\":\"" ONE ONE "\"}]"), MCPX_ETOKEN, false},
    {"no keys", "\"sub\":\"ann\"", NULL, SECRET_ONE, KEYS(""), MCPX_ETOKEN, false},
    {"an issuer is expected", "\"sub\":\"ann\"", NULL, SECRET_ONE,
     KEYS("\"secret\":\"" ONE "\",\"issuer\":\"me\""), MCPX_ETOKEN, false},
    {"the issuer it has is expected", "\"sub\":\"ann\",\"iss\":\"me\"", NULL, SECRET_ONE,
     KEYS("\"secret\":\"" ONE "\",\"issuer\":\"me\""), MCPX_OK, true},
    {"an audience is expected", "\"sub\":\"ann\",\"aud\":[\"x\"]", NULL, SECRET_ONE,
     KEYS("\"secret\":\"" ONE "\",\"audience\":\"me\""), MCPX_ETOKEN, false},
    {"its profile is the same", "\"sub\":\"ann\",\"profile\":\"p\"", NULL, PROFILE("\"chat\""),
     SECRET_ONE ",\"profiles\":{\"o\":{},\"p\":{\"grants\":[\"chat\"]}}", MCPX_OK, true},
    {"its profile has changed", "\"sub\":\"ann\",\"profile\":\"p\"", NULL, PROFILE("\"chat\""),
     PROFILE("\"chat\",\"a/b\""), MCPX_OK, false},
    {"its profile is gone", "\"sub\":\"ann\",\"profile\":\"p\"", NULL, PROFILE("\"chat\""),
     SECRET_ONE, MCPX_ETOKEN, false},
    {"an entry takes its name", "\"sub\":\"fs\",\"capabilities\":[\"chat\"]", NULL, SECRET_ONE,
     ACCEPTED(""), MCPX_ETOKEN, false},
    {"its entry gives more", "\"sub\":\"fs\"", NULL, ACCEPTED(""),
     ACCEPTED(",\"grants\":[\"chat\"]"), MCPX_OK, false},
    {"its entry accepts no JWT any more", "\"sub\":\"fs\"", NULL, ACCEPTED(""),
     SECRET_ONE "," FS_WITH(""), MCPX_ETOKEN, false},
    {"its entry is gone", "\"sub\":\"fs\"", NULL, ACCEPTED(""), SECRET_ONE, MCPX_ENOTFOUND,
     false},
    {"its entry is for another topic", "\"sub\":\"fs\"", NULL, ACCEPTED(""),
     SECRET_ONE "," PEOPLE("\"fs\":{" FS "\"topics\":[\"a\"],\"jwt\":\"accepted\"}"),
     MCPX_EFORBIDDEN, false},
};

static struct settled load(const char *members)
{
    struct mcpx_text text = {0};
    struct settled settled;

    mcpx_text_puts(&text, "{");
    mcpx_text_puts(&text, members);
    mcpx_text_puts(&text, "}");
    settled = settled_load(text.text, NULL, false);
    cr_assert_eq(settled.err, MCPX_OK, "%s", settled.errors.text);
    mcpx_text_fini(&text);
    return settled;
}

/* Ends at 1800000050 s, between `now` and `later`, when it says so. */
static char *sign(const char *claims, const char *kid, const char *exp)
{
    struct mcpx_text header = {0}, payload = {0};
    char *token;

    mcpx_text_puts(&header, "{\"alg\":\"HS256\"");
    mcpx_text_puts(&header, kid ? ",\"kid\":\"" : "");
    mcpx_text_puts(&header, kid ? kid : "");
    mcpx_text_puts(&header, kid ? "\"}" : "}");
    mcpx_text_puts(&payload, "{\"topic\":\"room-1\",\"exp\":");
    mcpx_text_puts(&payload, exp);
    mcpx_text_puts(&payload, ",");
    mcpx_text_puts(&payload, claims);
    mcpx_text_puts(&payload, "}");
    token = jwt_make(header.text, payload.text, "SHA256", ONE);
    mcpx_text_fini(&header);
    mcpx_text_fini(&payload);
    return token;
}

static struct grant *earn(struct settled *settled, const char *token)
{
    struct grant *grant = NULL;

    cr_assert_eq(tokens_verify(settled->config.tokens, mcpx_slice_of(token),
                               MCPX_SLICE("room-1"), now, &grant),
                 MCPX_OK, "%s", token);
    return grant;
}

static enum mcpx_err recheck(struct settled *settled, const struct grant *base,
                             struct grant **out)
{
    *out = NULL;
    return tokens_recheck(settled->config.tokens, base, MCPX_SLICE("room-1"), now, out);
}

Test(tokens_recheck, gives_what_the_token_would_under_the_other_configuration)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct settled before = load(rows[i].before), after = load(rows[i].after);
        char *token = rows[i].claims ? sign(rows[i].claims, rows[i].kid, "1900000000")
                                     : strdup("fs-token");
        struct grant *old = earn(&before, token), *made, *again, *verified = NULL;

        cr_expect_eq(recheck(&after, old, &made), rows[i].err, "%s", rows[i].name);
        cr_expect_eq(made != NULL, rows[i].err == MCPX_OK, "%s", rows[i].name);
        cr_expect_eq(tokens_verify(after.config.tokens, mcpx_slice_of(token),
                                   MCPX_SLICE("room-1"), now, &verified) == MCPX_OK,
                     rows[i].err == MCPX_OK ||
                         strcmp(rows[i].name, "its entry is gone") == 0 ||
                         strcmp(rows[i].name, "the token is somebody else's") == 0,
                     "%s", rows[i].name);
        if (made) {
            cr_expect_eq(grant_equals(made, old), rows[i].equal, "%s", rows[i].name);
            cr_expect(grant_equals(made, verified), "%s", rows[i].name);
            cr_expect(mcpx_slice_equal(made->identity, old->identity));
        }
        /* the credential is as good as the one before it */
        if (made && recheck(&before, made, &again) == MCPX_OK) {
            cr_expect(grant_equals(again, old), "%s", rows[i].name);
            grant_unref(again);
        } else {
            cr_expect_null(made, "%s: not judged back", rows[i].name);
        }
        grant_unref(made);
        grant_unref(old);
        grant_unref(verified);
        free(token);
        settled_fini(&before);
        settled_fini(&after);
    }
}

Test(tokens_recheck, ends_a_token_whose_time_is_over)
{
    struct settled settled = load(KEYS("\"secret\":\"" ONE "\""));
    char *token = sign("\"sub\":\"ann\"", NULL, "1800000030");
    struct grant *old = earn(&settled, token), *made = NULL;

    cr_expect_eq(
        tokens_recheck(settled.config.tokens, old, MCPX_SLICE("room-1"), later, &made),
        MCPX_ETOKEN);
    cr_expect_null(made);
    grant_unref(old);
    free(token);
    settled_fini(&settled);
}

/* The router's memory is of no use to whoever wants to connect with it. */
Test(tokens_recheck, keeps_neither_token_nor_capabilities)
{
    struct settled settled = load(KEYS("\"secret\":\"" ONE "\""));
    char *token = sign("\"sub\":\"ann\",\"capabilities\":[\"chat\"],\"other\":\"claim\"", NULL,
                       "1900000000");
    struct grant *grant = earn(&settled, token);
    mx_scoped_text proof = {0};

    mcpx_text_slice(&proof, grant->credential->proof);
    cr_assert_not_null(proof.text);
    cr_expect_null(strstr(proof.text, strrchr(token, '.') + 1));
    cr_expect_null(strstr(proof.text, "chat"));
    cr_expect_null(strstr(proof.text, "other"));
    grant_unref(grant);
    free(token);
    settled_fini(&settled);
}

/*
 * A reload reads on a thread of its own, and shares what is equal. If it asked a shared set a
 * question, the loop's question about a message would be answered with the reload's addressees and
 * clock.
 */
Test(tokens_recheck, a_reload_leaves_the_sets_alone_that_it_shares)
{
    const char *members =
        "{" PEOPLE("\"fs\":{" FS ROOMS "},\"ci\":{" BARE ROOMS
                   ",\"grants\":[{\"kind\":\"mcp/*\",\"to\":[\"fs\"]}]}") "}";
    struct settled before = settled_load(members, NULL, false), after;
    struct mcpx_question question = {.wall_ms = 1};
    struct grant *shared;

    cr_assert_eq(before.err, MCPX_OK, "%s", before.errors.text);
    shared = tokens_find_id(before.config.tokens, MCPX_SLICE("ci"))->grant;
    shared->capset->question = &question;
    after = settled_load_from(members, (struct config_sources){.before = &before.config});
    cr_assert_eq(after.err, MCPX_OK, "%s", after.errors.text);
    cr_expect_eq(shared->capset->question, &question);
    tokens_take_shared(after.config.tokens, before.config.tokens);
    cr_expect_eq(tokens_find_id(after.config.tokens, MCPX_SLICE("ci"))->grant, shared,
                 "else nothing was shared and nothing was shown");
    settled_fini(&after);
    settled_fini(&before);
}

Test(tokens_recheck, knows_the_tokens_of_dev_mode)
{
    struct settled settled = settled_load("{}", NULL, true);
    mx_scoped_text token = {0};
    struct mcpx_fault fault;
    struct grant *old, *made;

    cr_assert_eq(settled.err, MCPX_OK);
    cr_assert_eq(tokens_issue(settled.config.tokens, MCPX_SLICE("me"), MCPX_SLICE("room-1"),
                              (struct mcpx_slice){NULL, 0}, now, &fault, &token),
                 MCPX_OK);
    old = earn(&settled, token.text);
    cr_assert_eq(recheck(&settled, old, &made), MCPX_OK);
    cr_expect(grant_equals(made, old));
    grant_unref(made);
    grant_unref(old);
    settled_fini(&settled);
}

/* A grant that nobody earned by a token, as one of a list that was made up. */
Test(tokens_recheck, knows_nobody_without_a_credential)
{
    struct settled settled = load("");
    struct mcpx_capset *set = NULL;
    struct grant *grant, *made;

    cr_assert_eq(mcpx_capset_new(NULL, 0, NULL, 0, NULL, NULL, &set), MCPX_OK);
    grant = grant_new(MCPX_SLICE("a"), set, ROUTING_DEFAULT, 0);
    mcpx_capset_unref(set);
    cr_expect_eq(recheck(&settled, grant, &made), MCPX_ENOTFOUND);
    grant_unref(grant);
    settled_fini(&settled);
}
