/*
 * keyed.h - keys in a file, as the router reads them, and what it believes by them.
 */
#ifndef TESTS_POLICY_KEYED_H
#define TESTS_POLICY_KEYED_H

#include "tests/support/jwt.h"
#include "tests/support/key_pair.h"
#include "tests/support/outside.h"

#include "router/policy/identity/jwt.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLAIMS "{\"sub\":\"a\",\"exp\":1800000100}"

static const struct mcpx_now now = {.wall_ms = 1800000000000};

/* Made once: RSA takes its time. */
static EVP_PKEY *pair_of(const char *sort)
{
    static struct {
        const char *sort;
        EVP_PKEY *pair;
    } made[8];
    size_t i = 0;

    while (made[i].pair && strcmp(made[i].sort, sort) != 0)
        i++;
    if (!made[i].pair) {
        made[i].sort = sort;
        made[i].pair = key_pair_new(sort);
    }
    return made[i].pair;
}

/* A file in /tmp, read into a ring: the one of the test that runs. */
static struct keyed {
    char path[32];
    struct key_file *file;
    struct jwt_ring ring;
    enum mcpx_err err;
    struct mcpx_text why;
} keyed;

static void reread(void)
{
    struct key_reading reading;

    key_file_read(keyed.file, &reading);
    keyed.err = reading.err;
    mcpx_text_reset(&keyed.why);
    mcpx_text_slice(&keyed.why, mcpx_text_view(&reading.why));
    (void)key_file_take(keyed.file, &reading);
    key_reading_fini(&reading);
}

/* The fini of a suite. */
static void keyed_fini(void)
{
    if (keyed.file)
        unlink(keyed.path);
    jwt_ring_fini(&keyed.ring);
    key_file_unref(keyed.file);
    mcpx_text_fini(&keyed.why);
    keyed.file = NULL;
}

/* Takes the place of what was read before; `alg` is NULL for a set. */
static void key_with(const char *text, const char *alg)
{
    struct jwt_key model = {.kid = "k", .alg = alg ? jwt_alg_find(alg) : NULL};

    keyed_fini();
    keyed = (struct keyed){.path = "/tmp/mcpx-keys-XXXXXX"};
    close(mkstemp(keyed.path));
    file_write_text(keyed.path, text);
    keyed.file = key_file_new(keyed.path, "/auth/jwt/jwks_file", alg ? &model : NULL);
    cr_assert_not_null(keyed.file);
    cr_assert_eq(jwt_ring_add_file(&keyed.ring, keyed.file), MCPX_OK);
    reread();
}

/* The same with the public half of a pair, as PEM. */
static inline void key_with_pem(EVP_PKEY *pair, const char *alg)
{
    char *pem = key_pair_pem(pair, 0);

    key_with(pem, alg);
    free(pem);
}

/* Verified elsewhere, it is as good, and its keys are those that there are by then. */
static void expect_the_same_later(const char *token, enum mcpx_err expected)
{
    struct jwt_signature signature = {.count = 0};
    struct jwt_proof proof = {.claims = NULL};
    static const struct jwt_ring empty;
    enum mcpx_err err = jwt_verify(&keyed.ring, mcpx_slice_of(token), &signature, now, &proof);

    cr_expect_eq(err == MCPX_EOPENING, signature.state == JWT_SIGNATURE_WANTED);
    cr_expect_neq(err, MCPX_OK, "nobody has verified it");
    if (err == MCPX_EOPENING) {
        jwt_signature_verify(&signature);
        err = jwt_verify(&empty, mcpx_slice_of(token), &signature, now, &proof);
        cr_expect_eq(err, MCPX_ETOKEN, "its key is gone");
        err = jwt_verify(&keyed.ring, mcpx_slice_of(token), &signature, now, &proof);
    }
    cr_expect_eq(err, expected, "%s", token);
    jwt_signature_fini(&signature);
    jwt_proof_fini(&proof);
}

/* NULL when it is believed, else why not. */
static const char *fault(const char *token)
{
    struct jwt_proof proof = {.claims = NULL};
    enum mcpx_err err = jwt_verify(&keyed.ring, mcpx_slice_of(token), NULL, now, &proof);
    const char *why = proof.why;

    expect_the_same_later(token, err);
    cr_expect_eq(err == MCPX_OK, proof.claims != NULL);
    cr_expect_eq(err == MCPX_OK, why == NULL, "%s", why);
    cr_expect(err || jwt_holds(&keyed.ring, &proof, now));
    jwt_proof_fini(&proof);
    return why;
}

static bool believes(EVP_PKEY *pair, const char *alg)
{
    char header[64], *token;
    bool is_good;

    snprintf(header, sizeof header, "{\"alg\":\"%.5s\",\"kid\":\"k\"}", alg);
    token = key_pair_sign(pair, header, CLAIMS, alg);
    is_good = fault(token) == NULL;
    free(token);
    return is_good;
}

#endif
