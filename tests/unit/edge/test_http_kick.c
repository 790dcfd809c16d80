/*
 * What breaks for whom: somebody is removed from a thousand topics, and everybody else waits while
 * the administrator's signature is verified a thousand times, or the grants of each connection are
 * looked at once for each topic. Protocol: section 8.
 */
#include "http_fixture.h"

#include "router/policy/grants/grant.h"
#include "router/policy/identity/jwt.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(http_kick, .init = fixture_init, .fini = fixture_fini);

enum { TOPICS = 40 };

static int verified, looked;

/* Linked in the place of jwt_verify. */
enum mcpx_err __wrap_jwt_verify(const struct jwt_ring *ring, struct mcpx_slice token,
                                struct jwt_signature *signature, struct mcpx_now now,
                                struct jwt_proof *proof);
enum mcpx_err __real_jwt_verify(const struct jwt_ring *ring, struct mcpx_slice token,
                                struct jwt_signature *signature, struct mcpx_now now,
                                struct jwt_proof *proof);

enum mcpx_err __wrap_jwt_verify(const struct jwt_ring *ring, struct mcpx_slice token,
                                struct jwt_signature *signature, struct mcpx_now now,
                                struct jwt_proof *proof)
{
    verified++;
    return __real_jwt_verify(ring, token, signature, now, proof);
}

/* Likewise. */
bool __wrap_authority_is_guarded(const struct mcpx_capset *set, int64_t wall_ms);
bool __real_authority_is_guarded(const struct mcpx_capset *set, int64_t wall_ms);

bool __wrap_authority_is_guarded(const struct mcpx_capset *set, int64_t wall_ms)
{
    looked++;
    return __real_authority_is_guarded(set, wall_ms);
}

/* A token of an administrator of topics. */
static const char *bearer_for(const char *topics)
{
    char claims[512];

    snprintf(claims, sizeof claims,
             "{\"participantId\":\"root\",\"topic\":%s,\"capabilities\":[\"admin/*\"],"
             "\"exp\":1895303080}",
             topics);
    return fixture_signed(claims);
}

Test(http_kick, everywhere_verifies_the_token_and_looks_at_grants_once)
{
    static const struct {
        const char *topics;
        int status, ended; /* `ended`: connections */
    } rows[] = {
        {"[\"elsewhere\"]", 404, 0},
        {"[\"room-1\"]", 200, 1},
        {"[\"room-1\",\"room-2\",\"room-3\",\"room-30\"]", 200, 3},
    };
    char topic[16];

    for (int i = 0; i < TOPICS; i++) {
        snprintf(topic, sizeof topic, "room-%d", i);
        fixture_join_as("ann", topic, "[\"chat\"]"); /* no admin: looked at */
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *bearer = bearer_for(rows[i].topics);

        verified = looked = 0;
        fixture_ask(&(struct ask){"DELETE", "/admin/participants/ann", bearer, NULL, NULL});
        cr_expect_eq(answer.status, rows[i].status, "%s", answer.text.text);
        cr_expect_eq(json_integer_value(json_object_get(answer.json, "connections")),
                     rows[i].ended, "%s", answer.text.text);
        cr_expect_eq(verified, 1, "row %zu: %d times", i, verified);
        cr_expect_leq(looked, 2 * TOPICS, "row %zu: %d times", i, looked);
    }
}
