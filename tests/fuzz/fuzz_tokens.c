/*
 * fuzz_tokens.c - any bytes as a bearer token, and any header and claims under a good signature.
 * The first finds faults in the outer form, the second in what comes after verification, where
 * random bytes would never get. Input: header, newline, claims; without a newline it is taken as
 * it is. The same bytes are read as files with public keys, too. Protocol: section 7.
 */
#include "lib/base/digits.h"
#include "router/policy/identity/jwt.h"
#include "router/policy/identity/tokens_make.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/bearer.h"

#include <mcpx/envelope.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

static const char secret[] = "0123456789abcdef0123456789abcdef";

static struct tokens *make_tokens(void)
{
    struct tokens *tokens = tokens_new(NULL);
    const struct grant_list none = {0};
    struct tokens_person profile = {
        .id = {"p", 1}, .is_profile = true, .grants = &none, .routing = ROUTING_DIRECTED};
    struct mcpx_fault fault;

    if (!tokens ||
        jwt_ring_add(&tokens->ring, SECRET_KEY(NULL, "HS256"), mcpx_slice_of(secret)) ||
        tokens_add(tokens, &profile, &fault))
        abort();
    return tokens;
}

/* Whoever is let in has a valid name and a set of grants. */
static bool is_let_in(struct tokens *tokens, struct mcpx_slice bearer)
{
    struct mcpx_now now = {.mono_ms = 1, .wall_ms = 1800000000000};
    struct grant *grant = NULL;
    enum mcpx_err err = tokens_verify(tokens, bearer, MCPX_SLICE("t"), now, &grant);

    if ((err == MCPX_OK) != (grant != NULL))
        abort();
    if (grant && (!mcpx_identity_is_valid(grant->identity) || !grant->capset))
        abort();
    if (err && err != MCPX_ETOKEN && err != MCPX_EFORBIDDEN)
        abort();
    grant_unref(grant);
    return err == MCPX_OK;
}

static void sign(const uint8_t *header, size_t header_len, struct mcpx_slice claims,
                 struct mcpx_text *out)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;

    mx_base64url_encode(header, header_len, out);
    mcpx_text_puts(out, ".");
    mx_base64url_encode((const unsigned char *)claims.text, claims.len, out);
    HMAC(EVP_sha256(), secret, (int)strlen(secret), (const unsigned char *)out->text, out->len,
         mac, &len);
    mcpx_text_puts(out, ".");
    mx_base64url_encode(mac, len, out);
}

/* All of a file or nothing of it, with a reason. */
static void check_keys(enum mcpx_err err, struct jwt_keys *keys, struct mcpx_text *why)
{
    if ((err == MCPX_OK) != (keys->count > 0) || (err == MCPX_ECONFIG) != (why->len > 0))
        abort();
    for (size_t i = 0; i < keys->count; i++)
        if (keys->rows[i].alg->family == JWT_HMAC ||
            jwt_alg_refuses(keys->rows[i].alg, keys->rows[i].key))
            abort();
    jwt_keys_fini(keys);
    mcpx_text_fini(why);
}

static void read_keys(struct mcpx_slice text)
{
    const struct jwt_key model = {.kid = "k", .alg = jwt_alg_find("ES256")};
    struct jwt_keys keys = {0};
    struct mcpx_text why = {0};
    size_t passed_over;

    check_keys(public_keys_read(text, NULL, &keys, &passed_over, &why), &keys, &why);
    check_keys(public_keys_read(text, &model, &keys, &passed_over, &why), &keys, &why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tokens *tokens;
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    struct mcpx_text bearer = {0};

    if (!tokens)
        tokens = make_tokens();
    read_keys((struct mcpx_slice){(const char *)data, size});
    if (is_let_in(tokens, (struct mcpx_slice){(const char *)data, size}))
        abort(); /* nobody signed that */
    if (newline) {
        size_t at = (size_t)(newline - data);

        sign(data, at, (struct mcpx_slice){(const char *)newline + 1, size - at - 1}, &bearer);
        is_let_in(tokens, mcpx_text_view(&bearer));
    }
    mcpx_text_fini(&bearer);
    return 0;
}
