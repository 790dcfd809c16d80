/*
 * What breaks for whom: everybody, when a forged token is taken for a good one. Each row is a
 * token made by hand; the keys are HS256 "k1", HS512 "k2" and a nameless HS384.
 * Protocol: section 7 (tokens), section 6 (no token in an error).
 */
#include "tests/support/bearer.h"
#include "tests/support/jwt.h"

#include "lib/base/digits.h"
#include "lib/base/scoped.h"
#include "router/policy/identity/jwt.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define ONE "11111111111111111111111111111111"
#define TWO "2222222222222222222222222222222222222222222222222222222222222222"
#define THREE "333333333333333333333333333333333333333333333333"

enum { NOW_S = 1800000000 };

static const struct mcpx_now now = {.wall_ms = (int64_t)NOW_S * 1000};

/* The keys, and the token of a test that was made last. */
static struct jwt_ring keys, *const ring = &keys;
static char *token;

static void begin(void)
{
    cr_assert_eq(jwt_ring_add(ring, SECRET_KEY("k1", "HS256"), MCPX_SLICE(ONE)), MCPX_OK);
    cr_assert_eq(jwt_ring_add(ring, SECRET_KEY("k2", "HS512"), MCPX_SLICE(TWO)), MCPX_OK);
    cr_assert_eq(jwt_ring_add(ring, SECRET_KEY(NULL, "HS384"), MCPX_SLICE(THREE)), MCPX_OK);
}

static void end(void)
{
    free(token);
    jwt_ring_fini(ring);
}

TestSuite(jwt, .init = begin, .fini = end);

/* A token of k1. */
static void make(const char *text)
{
    free(token);
    token = jwt_make("{\"alg\":\"HS256\"}", text, "SHA256", ONE);
}

static enum mcpx_err verify_text(const char *text)
{
    struct jwt_proof proof = {.claims = NULL};
    enum mcpx_err err = jwt_verify(ring, mcpx_slice_of(text), NULL, now, &proof);

    cr_expect_eq(err == MCPX_OK, proof.claims != NULL, "%s", text);
    cr_expect(err || jwt_holds(ring, &proof, now), "%s", text);
    jwt_proof_fini(&proof);
    return err;
}

static enum mcpx_err verify(void)
{
    return verify_text(token);
}

static const struct {
    const char *header, *digest, *secret;
    bool good;
} headers[] = {
    {"{\"alg\":\"HS256\"}", "SHA256", ONE, true},
    {"{\"alg\":\"HS256\",\"kid\":\"k1\",\"typ\":\"JWT\"}", "SHA256", ONE, true},
    {"{\"alg\":\"HS512\",\"kid\":\"k2\"}", "SHA512", TWO, true},
    {"{\"alg\":\"HS384\"}", "SHA384", THREE, true},
    {"{\"alg\":\"HS384\",\"kid\":\"whatever\"}", "SHA384", THREE, true},
    {" { \"alg\" : \"HS256\" } ", "SHA256", ONE, true},
    /* the algorithm is the key's, not the token's */
    {"{\"alg\":\"none\"}", "SHA256", ONE, false},
    {"{\"alg\":\"None\"}", "SHA256", ONE, false},
    {"{\"alg\":\"NONE\"}", "SHA256", ONE, false},
    {"{\"alg\":\"\"}", "SHA256", ONE, false},
    {"{\"alg\":\"hs256\"}", "SHA256", ONE, false},
    {"{\"alg\":\"HS256 \"}", "SHA256", ONE, false},
    {"{\"alg\":\"HS512\",\"kid\":\"k1\"}", "SHA512", ONE, false},
    {"{\"alg\":\"HS512\"}", "SHA512", ONE, false},
    {"{\"alg\":\"HS256\"}", "SHA512", ONE, false},
    {"{\"alg\":\"HS256\"}", "SHA256", TWO, false},
    {"{\"alg\":\"RS256\"}", "SHA256", ONE, false},
    {"{\"alg\":\"ES256\"}", "SHA256", ONE, false},
    {"{\"alg\":\"PS256\"}", "SHA256", ONE, false},
    {"{\"alg\":\"EdDSA\"}", "SHA256", ONE, false},
    {"{\"alg\":\"dir\"}", "SHA256", ONE, false},
    {"{\"alg\":[\"HS256\"]}", "SHA256", ONE, false},
    {"{\"alg\":null}", "SHA256", ONE, false},
    {"{\"typ\":\"JWT\"}", "SHA256", ONE, false},
    {"{\"alg\":\"HS256\",\"alg\":\"HS256\"}", "SHA256", ONE, false},
    {"{\"alg\":\"none\",\"alg\":\"HS256\"}", "SHA256", ONE, false},
    /* which key */
    {"{\"alg\":\"HS256\",\"kid\":\"k2\"}", "SHA256", ONE, false},
    {"{\"alg\":\"HS256\",\"kid\":\"k\"}", "SHA256", ONE, false},
    {"{\"alg\":\"HS256\",\"kid\":\"\"}", "SHA256", ONE, false},
    {"{\"alg\":\"HS256\",\"kid\":1}", "SHA256", ONE, false},
    {"{\"alg\":\"HS256\",\"kid\":{}}", "SHA256", ONE, false},
    /* what is not understood */
    {"{\"alg\":\"HS256\",\"crit\":[\"exp\"]}", "SHA256", ONE, false},
    {"{\"alg\":\"HS256\",\"crit\":[]}", "SHA256", ONE, false},
    {"{\"alg\":\"HS256\",\"crit\":null}", "SHA256", ONE, false},
    {"{\"alg\":\"HS256\",\"b64\":false}", "SHA256", ONE, false},
    {"{\"alg\":\"HS256\",\"typ\":7}", "SHA256", ONE, false},
    {"[\"HS256\"]", "SHA256", ONE, false},
    {"\"HS256\"", "SHA256", ONE, false},
    {"{\"alg\":\"HS256\"", "SHA256", ONE, false},
    {"{\"alg\":\"HS256\"}x", "SHA256", ONE, false},
    {"\xff", "SHA256", ONE, false},
};

Test(jwt, verifies_with_the_algorithm_of_the_key_only)
{
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        free(token);
        token = jwt_make(headers[i].header, "{}", headers[i].digest, headers[i].secret);
        cr_expect_eq(verify(), headers[i].good ? MCPX_OK : MCPX_ETOKEN, "%s, %s",
                     headers[i].header, headers[i].digest);
    }
}

/* exp, nbf, iat, iss and aud; @ stands for now. */
static const struct {
    const char *claims;
    bool good;
} claims[] = {
    {"{}", true},
    {"{\"exp\":@+1}", true},
    {"{\"exp\":@-59}", true},
    {"{\"exp\":@-59.999}", true},
    {"{\"exp\":@-60}", false},
    {"{\"exp\":@-61}", false},
    {"{\"exp\":0}", false},
    {"{\"exp\":-1}", false},
    {"{\"exp\":1e300}", true},
    {"{\"exp\":9223372036854775807}", true},
    {"{\"exp\":9223372036854775808}", false}, /* no number jansson reads */
    {"{\"exp\":\"@+1\"}", false},
    {"{\"exp\":null}", false},
    {"{\"exp\":true}", false},
    {"{\"exp\":[@+1]}", false},
    {"{\"nbf\":@}", true},
    {"{\"nbf\":@+60}", true},
    {"{\"nbf\":@+61}", false},
    {"{\"nbf\":-1e300}", true},
    {"{\"nbf\":\"0\"}", false},
    {"{\"iat\":@-100000}", true},
    {"{\"iat\":@+60}", true},
    {"{\"iat\":@+61}", false},
    {"{\"iat\":{}}", false},
    {"{\"iss\":\"anyone\",\"aud\":[\"a\",\"b\"]}", true},
    {"{\"iss\":7}", false},
    {"{\"aud\":7}", false},
    {"{\"aud\":[\"a\",7]}", false},
    {"{\"aud\":null}", false},
    {"{\"exp\":@+1,\"exp\":@+2}", false},
    {"{\"sub\":\"a\\u0000b\"}", false},
    {"[]", false},
    {"7", false},
    {"", false},
    {"{", false},
    {"{}{}", false},
    {"{\"a\":\"\xff\"}", false},
};

/* Writes the claims with "@+1" replaced by a date. */
static void write_dates(const char *text, char *out, size_t size)
{
    size_t len = 0;

    while (*text && len < size - 40) {
        char *end = (char *)text;

        if (*text == '@')
            len += (size_t)snprintf(
                out + len, size - len, "%.14g",
                NOW_S + (strpbrk(text + 1, "+-") == text + 1 ? strtod(text + 1, &end) : 0));
        else
            out[len++] = *text;
        text = end > text ? end : text + 1;
    }
    out[len] = '\0';
}

Test(jwt, allows_a_minute_between_clocks)
{
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        char text[256];

        write_dates(claims[i].claims, text, sizeof text);
        make(text);
        cr_expect_eq(verify(), claims[i].good ? MCPX_OK : MCPX_ETOKEN, "%s = %s",
                     claims[i].claims, text);
    }
}

Test(jwt, wants_issuer_and_audience_where_they_are_configured)
{
    static const struct {
        const char *claims;
        bool good;
    } rows[] = {
        {"{\"iss\":\"me\",\"aud\":\"router\"}", true},
        {"{\"iss\":\"me\",\"aud\":[\"x\",\"router\"]}", true},
        {"{\"iss\":\"me\",\"aud\":[\"router\",7]}", false},
        {"{\"iss\":\"me\",\"aud\":[]}", false},
        {"{\"iss\":\"me\",\"aud\":\"Router\"}", false},
        {"{\"iss\":\"me\",\"aud\":\"routerx\"}", false},
        {"{\"iss\":\"me\",\"aud\":{}}", false},
        {"{\"iss\":\"me\"}", false},
        {"{\"aud\":\"router\"}", false},
        {"{\"iss\":\"you\",\"aud\":\"router\"}", false},
        {"{\"iss\":[\"me\"],\"aud\":\"router\"}", false},
    };

    ring->issuer = strdup("me");
    ring->audience = strdup("router");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(rows[i].claims);
        cr_expect_eq(verify(), rows[i].good ? MCPX_OK : MCPX_ETOKEN, "%s", rows[i].claims);
    }
}

/* What remains of a good token after each of its bytes is changed, or it is cut. */
Test(jwt, notices_every_changed_and_every_missing_byte)
{
    size_t len;

    make("{\"sub\":\"a\"}");
    len = strlen(token);
    cr_assert_eq(verify(), MCPX_OK);
    for (size_t i = 0; i < len; i++) {
        char kept = token[i];

        for (const char *other = "AZaz09-_.=+/ \n"; *other; other++) {
            if (*other == kept)
                continue;
            token[i] = *other;
            cr_expect_eq(verify(), MCPX_ETOKEN, "byte %zu: %s", i, token);
        }
        token[i] = '\0';
        cr_expect_eq(verify(), MCPX_ETOKEN, "cut at %zu", i);
        token[i] = kept;
    }
}

Test(jwt, refuses_what_only_looks_like_a_token)
{
    static const char *const patterns[] = {
        "%s.",  ".%s",  "%s.x", "%s ",   " %s",  "%s=",         "%s==", "..%s",
        "%s\n", "%s..", ".",    "..",    "...",  "a.b.c",       "....", "eyJ.eyJ.",
        "%s%s", "x%s",  "%s,",  "%s.%s", "%s\t", "e30.e30.e30",
    };

    make("{}");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct mcpx_text text = {0};

        for (const char *at = patterns[i]; *at; at++) {
            if (at[0] == '%' && at[1] == 's')
                mcpx_text_puts(&text, (at++, token));
            else
                mcpx_text_add(&text, at, 1);
        }
        cr_expect_eq(verify_text(text.text), MCPX_ETOKEN, "%s", patterns[i]);
        mcpx_text_fini(&text);
    }
}

Test(jwt, refuses_a_token_with_a_nul_byte)
{
    struct jwt_proof found = {.claims = NULL};

    make("{}");
    cr_expect_eq(
        jwt_verify(ring, (struct mcpx_slice){token, strlen(token) + 1}, NULL, now, &found),
        MCPX_ETOKEN);
}

Test(jwt, looks_at_8192_bytes_and_no_more)
{
    char text[8192];

    for (size_t size = 6000; size <= 6200; size++) {
        snprintf(text, sizeof text, "{\"sub\":\"%0*d\"}", (int)size - 10, 0);
        make(text);
        cr_expect_eq(verify(), strlen(token) <= JWT_BYTES_MAX ? MCPX_OK : MCPX_ETOKEN,
                     "%zu bytes", strlen(token));
    }
}

Test(jwt, verifies_nothing_without_keys)
{
    struct mcpx_text out = {0};
    json_auto_t *none = json_object();

    jwt_ring_fini(ring);
    token = jwt_make("{\"alg\":\"HS256\"}", "{}", "SHA256", "");
    cr_expect_eq(verify(), MCPX_ETOKEN);
    cr_expect_eq(jwt_sign(ring, none, &out), MCPX_ENOTFOUND);
}

Test(jwt, signs_what_it_verifies)
{
    mx_scoped_text made = {0};
    json_auto_t *written = json_pack("{s:s}", "sub", "a");
    struct jwt_proof read = {.claims = NULL};

    cr_assert_eq(jwt_sign(ring, written, &made), MCPX_OK);
    cr_assert_eq(jwt_verify(ring, mcpx_text_view(&made), NULL, now, &read), MCPX_OK);
    cr_expect(json_equal(written, read.claims));
    jwt_proof_fini(&read);
}

Test(base64url, has_one_spelling_for_each_value)
{
    static const struct {
        const char *text, *value; /* NULL: refused */
    } rows[] = {
        {"", ""},        {"Zg", "f"},   {"Zm8", "fo"},    {"Zm9v", "foo"}, {"_-A", "\xff\xe0"},
        {"Zh", NULL},    {"Zm9", NULL}, {"Z", NULL},      {"Zg==", NULL},  {"Zm9vY", NULL},
        {"Zm 9v", NULL}, {"+/A", NULL}, {"Zm9v\n", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_text out = {0};
        bool valid;

        mcpx_text_puts(&out, "x");
        valid = mx_base64url_decode(mcpx_slice_of(rows[i].text), &out);
        cr_expect_eq(valid, rows[i].value != NULL, "%s", rows[i].text);
        cr_expect_str_eq(out.text + 1, valid ? rows[i].value : "", "%s", rows[i].text);
        mcpx_text_reset(&out);
        if (valid)
            mx_base64url_encode((const unsigned char *)rows[i].value, strlen(rows[i].value),
                                &out);
        cr_expect(!valid ||
                  mcpx_slice_equal(mcpx_text_view(&out), mcpx_slice_of(rows[i].text)));
        mcpx_text_fini(&out);
    }
}
