/*
 * What breaks for whom: everybody, when a token that only looks signed is believed; all agents of a
 * company, when those of its identity provider are not. Each algorithm with each sort of key, and
 * files with keys that are good, broken and dangerous.
 * Protocol: section 7 (tokens); RFC 7517, 7518, 8037, 8725.
 */
#include "lib/base/scoped.h"
#include "tests/unit/policy/keyed.h"

#include <sys/resource.h>

TestSuite(jwt_public, .fini = keyed_fini);

static const char *const algs[] = {"RS256", "RS384", "RS512", "PS256", "PS384",
                                   "PS512", "ES256", "ES384", "ES512", "EdDSA"};
static const char *const sorts[] = {"RSA-2048", "P-256", "P-384", "P-521", "ED25519"};

enum { ALGS = sizeof algs / sizeof *algs, SORTS = sizeof sorts / sizeof *sorts };

/* The only sort that the algorithm takes. */
static const char *sort_of(const char *alg)
{
    return alg[0] == 'R' || alg[0] == 'P' ? "RSA-2048"
           : strcmp(alg, "ES256") == 0    ? "P-256"
           : strcmp(alg, "ES384") == 0    ? "P-384"
           : strcmp(alg, "ES512") == 0    ? "P-521"
                                          : "ED25519";
}

static EVP_PKEY *pair_for(const char *alg)
{
    return pair_of(sort_of(alg));
}

Test(jwt_public, each_key_is_for_one_algorithm)
{
    for (size_t i = 0; i < ALGS; i++) {
        key_with_pem(pair_for(algs[i]), algs[i]);
        cr_assert_eq(keyed.err, MCPX_OK, "%s: %s", algs[i], keyed.why.text);
        for (size_t j = 0; j < ALGS; j++)
            cr_expect_eq(believes(pair_for(algs[j]), algs[j]), i == j, "%s with %s", algs[j],
                         algs[i]);
    }
}

Test(jwt_public, an_algorithm_takes_one_sort_of_key)
{
    for (size_t i = 0; i < ALGS; i++) {
        for (size_t j = 0; j < SORTS; j++) {
            char *jwk = key_pair_jwk(pair_of(sorts[j]), "");
            enum mcpx_err right =
                strcmp(sort_of(algs[i]), sorts[j]) == 0 ? MCPX_OK : MCPX_ECONFIG;

            key_with_pem(pair_of(sorts[j]), algs[i]);
            cr_expect_eq(keyed.err, right, "%s, %s", algs[i], sorts[j]);
            key_with(jwk, algs[i]);
            cr_expect_eq(keyed.err, right, "%s, %s: %s", algs[i], sorts[j], keyed.why.text);
            if (!right)
                cr_expect(believes(pair_of(sorts[j]), algs[i]), "%s", algs[i]);
            free(jwk);
        }
    }
}

/* Signatures that another program would take for good ones. */
Test(jwt_public, signatures_have_one_form)
{
    static const struct {
        const char *alg, *signed_as;
    } rows[] = {
        {"ES256", "DER256"}, {"PS256", "PS256-0"}, {"PS256", "RS256"}, {"RS256", "PS256"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char header[32], *token;

        key_with_pem(pair_for(rows[i].alg), rows[i].alg);
        snprintf(header, sizeof header, "{\"alg\":\"%s\"}", rows[i].alg);
        token = key_pair_sign(pair_for(rows[i].alg), header, CLAIMS, rows[i].signed_as);
        cr_expect_str_eq(fault(token), "no configured key has signed it", "%s",
                         rows[i].signed_as);
        free(token);
    }
}

/* The oldest trick: everybody knows the public key, so it must never be a secret. */
Test(jwt_public, the_public_key_is_no_secret)
{
    char *pem = key_pair_pem(pair_of(sorts[0]), 0);
    static const char *const digests[][2] = {
        {"HS256", "SHA256"}, {"HS384", "SHA384"}, {"HS512", "SHA512"}, {"RS256", "SHA256"}};

    key_with(pem, "RS256");
    for (size_t i = 0; i < 4; i++) {
        char header[64], *token;

        snprintf(header, sizeof header, "{\"alg\":\"%s\",\"kid\":\"k\"}", digests[i][0]);
        token = jwt_make(header, CLAIMS, digests[i][1], pem);
        cr_expect_str_eq(fault(token), i < 3 ? "no configured key with its kid is for its alg"
                                             : "no configured key has signed it");
        free(token);
    }
    free(pem);
}

Test(jwt_public, every_reason_is_told)
{
    static const struct {
        const char *header, *claims, *why;
    } rows[] = {
        {"{\"alg\":\"none\"}", CLAIMS, "the alg in its header is none that is known"},
        {"{\"alg\":\"ES256\",\"kid\":\"../../etc/passwd\"}", CLAIMS,
         "no configured key has its kid"},
        {"{\"alg\":\"ES256\",\"kid\":\"k' OR '1'='1\"}", CLAIMS,
         "no configured key has its kid"},
        {"{\"alg\":\"ES256\",\"kid\":\"k\",\"kid\":\"k\"}", CLAIMS,
         "its header is not a JSON object with each name once"},
        {"{\"alg\":\"ES256\",\"typ\":\"logout+jwt\"}", CLAIMS,
         "the typ in its header is neither JWT nor at+jwt"},
        {"{\"alg\":\"ES256\",\"crit\":[\"exp\"]}", CLAIMS, "its header has crit or b64"},
        {"{\"alg\":\"ES256\"}", "{\"sub\":\"a\"}", "it has no exp, and its key requires one"},
        {"{\"alg\":\"ES256\"}", "{\"exp\":1700000000}", "expired"},
        {"{\"alg\":\"ES256\"}", "{\"exp\":1900000000,\"nbf\":1850000000}",
         "not valid yet: nbf or iat is in the future"},
        {"{\"alg\":\"ES256\"}", "{\"exp\":\"soon\"}", "its exp, nbf or iat is not a number"},
        {"{\"alg\":\"ES256\"}", "{\"exp\":1900000000,\"iss\":1}",
         "its iss is not auth.jwt.issuer"},
        {"{\"alg\":\"ES256\"}", "{\"exp\":1,\"exp\":1900000000}",
         "its claims are not a JSON object with each name once"},
        {"{\"alg\":\"ES256\",\"typ\":\"application/at+JWT\"}", CLAIMS, NULL},
        {"{\"alg\":\"ES256\",\"jku\":\"https://evil.example/jwks\",\"x5c\":[\"AA==\"]}",
         CLAIMS, NULL},
    };

    key_with_pem(pair_for("ES256"), "ES256");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *token =
            key_pair_sign(pair_for("ES256"), rows[i].header, rows[i].claims, "ES256");
        const char *why = fault(token);

        cr_expect_eq(why == NULL, rows[i].why == NULL, "%s: %s", rows[i].header, why);
        if (why && rows[i].why)
            cr_expect_str_eq(why, rows[i].why, "%s %s", rows[i].header, rows[i].claims);
        free(token);
    }
}

/* A stranger must not make the router work long: of many keys, a few are tried. */
Test(jwt_public, a_token_that_names_no_key_is_tried_with_four)
{
    mx_scoped_text set = {0};
    EVP_PKEY *last = NULL;
    char *token;

    mcpx_text_puts(&set, "{\"keys\":[");
    for (int i = 0; i < 5; i++) {
        char more[32], *jwk;

        EVP_PKEY_free(last);
        last = key_pair_new("P-256");
        snprintf(more, sizeof more, ",\"kid\":\"k%d\"", i);
        jwk = key_pair_jwk(last, more);
        mcpx_text_puts(&set, i ? "," : "");
        mcpx_text_puts(&set, jwk);
        free(jwk);
    }
    mcpx_text_puts(&set, "]}");
    key_with(set.text, NULL);
    cr_assert_eq(keyed.err, MCPX_OK, "%s", keyed.why.text);
    cr_expect_eq(jwt_ring_count(&keyed.ring), 5);
    token = key_pair_sign(last, "{\"alg\":\"ES256\"}", CLAIMS, "ES256");
    cr_expect_str_eq(fault(token), "no configured key has signed it");
    cr_assert_eq(jwt_ring_add_file(&keyed.ring, keyed.file), MCPX_OK);
    cr_expect_str_eq(fault(token), "no configured key has signed it", "in each file");
    free(token);
    token = key_pair_sign(last, "{\"alg\":\"ES256\",\"kid\":\"k4\"}", CLAIMS, "ES256");
    cr_expect_null(fault(token));
    free(token);
    EVP_PKEY_free(last);
}

/* ---- files ---- */

/* @ stands for the public half of the key as JSON, without its braces. */
static const struct {
    const char *sort, *text, *why;
} sets[] = {
    {"RSA-2048", "{\"keys\":[{@}]}", NULL},
    {"P-521", "{\"keys\":[{@,\"use\":\"sig\",\"key_ops\":[\"verify\"],\"x\":1}]}",
     "line 1, column"}, /* x twice */
    {"P-521", "{\"keys\":[{@,\"use\":\"sig\",\"key_ops\":[\"verify\"],\"more\":1}],\"a\":1}",
     NULL},
    {"ED25519",
     "{\"keys\":[{@,\"alg\":\"EdDSA\"},{\"kty\":\"new\"},{\"kty\":\"EC\",\"crv\":\"X\"}]}",
     NULL},
    {"ED25519", "{\"keys\":[{@,\"alg\":\"EdDSA\"},{@,\"alg\":\"Ed9\",\"kid\":\"a\"}]}", NULL},
    {"RSA-2048", "{\"keys\":[{@,\"alg\":\"RS256\"},{@,\"alg\":\"PS256\"}]}", NULL},
    {"RSA-2048", "{\"keys\":[{@},{@,\"use\":\"enc\"},{@,\"key_ops\":[\"encrypt\"]}]}", NULL},
    {"RSA-2048", "{\"keys\":[{@,\"use\":\"enc\"}]}",
     "found no key that a token can be verified with"},
    {"RSA-2048", "{\"keys\":[]}", "found no key that a token can be verified with"},
    {"RSA-2048", "{\"keys\":[{@},{@,\"alg\":\"RS256\"}]}",
     "keys[1]: an earlier key has the same \"kid\" and algorithm"},
    {"RSA-2048", "{\"keys\":[{@,\"alg\":\"ES256\"}]}", "keys[0]: a key of another sort"},
    {"RSA-2048", "{\"keys\":[{@,\"alg\":\"HS256\"}]}", "keys[0]: a key of another sort"},
    {"RSA-1024", "{\"keys\":[{@}]}", "keys[0]: an RSA key that is too short"},
    {"RSA-2048", "{\"keys\":[{@,\"d\":\"AQAB\"}]}", "keys[0]: found a private key"},
    {"RSA-2048", "{\"keys\":[{@},{\"kty\":\"oct\",\"k\":\"AAAA\"}]}",
     "keys[1]: found a secret"},
    {"RSA-2048", "{\"keys\":[{@,\"kid\":\"\"}]}", "keys[0]: \"kid\" has to be"},
    {"RSA-2048", "{\"keys\":[{@,\"kid\":7}]}", "keys[0]: \"kid\" has to be"},
    {"RSA-2048", "{\"keys\":[{@,\"alg\":7}]}", "keys[0]: \"alg\" has to be"},
    {"RSA-2048", "{\"keys\":[7]}", "keys[0]: expected an object"},
    {"RSA-2048", "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\"}]}",
     "keys[0]: found a key whose numbers"},
    {"RSA-2048", "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQ AB\",\"e\":\"AQAB\"}]}",
     "keys[0]: found a key whose numbers"},
    {"P-256", "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AQAB\",\"y\":\"AQAB\"}]}",
     "keys[0]: found a key whose numbers"},
    {"P-256",
     "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\","
     "\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\","
     "\"y\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\"}]}",
     "keys[0]: found a key whose numbers"}, /* not on the curve */
    {"ED25519", "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AQAB\"}]}",
     "keys[0]: found a key whose numbers"},
    {"RSA-2048", "{@}", "expected {\"keys\": [...]}, a JSON Web Key Set"},
    {"RSA-2048", "[]", "expected {\"keys\": [...]}, a JSON Web Key Set"},
    {"RSA-2048", "", "line 1, column 0"},
    {"RSA-2048", "{\"keys\":[{@}]", "line 1, column"},
};

static char *with_key(const char *text, const char *sort)
{
    char *jwk = key_pair_jwk(pair_of(sort), "");
    struct mcpx_text out = {0};

    mcpx_text_puts(&out, "");
    for (; *text; text++) {
        if (*text == '@')
            mcpx_text_add(&out, jwk + 1, strlen(jwk) - 2);
        else
            mcpx_text_add(&out, text, 1);
    }
    free(jwk);
    return out.text;
}

Test(jwt_public, sets_are_taken_whole_or_refused_with_a_reason)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char *text = with_key(sets[i].text, sets[i].sort);

        key_with(text, NULL);
        cr_expect_eq(keyed.err, sets[i].why ? MCPX_ECONFIG : MCPX_OK, "%s: %s", sets[i].text,
                     keyed.why.text);
        cr_expect_eq(jwt_ring_count(&keyed.ring) > 0, sets[i].why == NULL, "%s", sets[i].text);
        if (sets[i].why && keyed.err)
            cr_expect_eq(strncmp(keyed.why.text, sets[i].why, strlen(sets[i].why)), 0,
                         "%s: %s", sets[i].text, keyed.why.text);
        free(text);
    }
}

Test(jwt_public, a_key_without_alg_has_that_of_its_type)
{
    static const struct {
        const char *sort, *alg;
    } rows[] = {{"RSA-2048", "RS256"},
                {"P-256", "ES256"},
                {"P-384", "ES384"},
                {"P-521", "ES512"},
                {"ED25519", "EdDSA"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *set = with_key("{\"keys\":[{@,\"kid\":\"k\"}]}", rows[i].sort);

        key_with(set, NULL);
        for (size_t j = 0; j < ALGS; j++)
            if (strcmp(sort_of(algs[j]), rows[i].sort) == 0)
                cr_expect_eq(believes(pair_of(sorts[i]), algs[j]),
                             strcmp(algs[j], rows[i].alg) == 0, "%s", algs[j]);
        free(set);
    }
}

Test(jwt_public, a_pem_file_that_is_no_public_key_says_what_it_is)
{
    char *private_pem = key_pair_pem(pair_of(sorts[1]), 1),
         *public_pem = key_pair_pem(pair_of(sorts[1]), 0);
    char *cut = strdup(public_pem);
    EVP_PKEY *weak = key_pair_new("RSA-1024"), *odd = key_pair_new("secp256k1");
    char *weak_pem = key_pair_pem(weak, 0), *odd_pem = key_pair_pem(odd, 0);
    struct {
        const char *text, *alg, *why;
    } rows[] = {
        {private_pem, "ES256", "found a private key"},
        {cut, "ES256", "found a damaged key"},
        {weak_pem, "RS256",
         "found an RSA key that is too short; RS256 needs an RSA key of 2048"},
        {odd_pem, "ES256", "found a key of another sort; ES256 needs a key on curve P-256"},
        {public_pem, "ES384", "found a key of another sort; ES384 needs a key on curve P-384"},
        {"-----BEGIN CERTIFICATE-----\n", "ES256", "found a certificate"},
        {"", "ES256", "found neither PEM"},
        {"MFkwEwYHKoZI", "ES256", "found neither PEM"},
        {"{\"keys\":[]}", "ES256", "found a set of keys, which belongs in auth.jwt.jwks_file"},
        {"{\"kty\":\"oct\",\"k\":\"AAAA\"}", "ES256", "found a secret"},
        {" \n{\"kty\":\"new\"}", "ES256", "its \"kty\" or \"crv\" is not known"},
    };

    cut[strlen(cut) / 2] = '!';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        key_with(rows[i].text, rows[i].alg);
        cr_expect_eq(keyed.err, MCPX_ECONFIG, "row %zu", i);
        cr_expect(keyed.why.text &&
                      strncmp(keyed.why.text, rows[i].why, strlen(rows[i].why)) == 0,
                  "row %zu: %s", i, keyed.why.text);
    }
    free(private_pem);
    free(public_pem);
    free(cut);
    free(weak_pem);
    free(odd_pem);
    EVP_PKEY_free(weak);
    EVP_PKEY_free(odd);
}

/* Old and new side by side, then the new one alone; what breaks on the way changes nothing. */
Test(jwt_public, a_file_that_changes_changes_the_keys_and_a_broken_one_does_not)
{
    EVP_PKEY *old_pair = key_pair_new("P-256"), *new_pair = key_pair_new("P-256");
    char *old_pem = key_pair_pem(old_pair, 0), *new_pem = key_pair_pem(new_pair, 0);
    mx_scoped_text both = {0};
    struct {
        const char *text; /* NULL: the file is gone */
        bool old_good, new_good, is_faulty;
    } rows[] = {
        {old_pem, true, false, false}, {NULL, true, true, false},     {"", true, true, true},
        {NULL, true, true, true},      {new_pem, false, true, false},
    };
    struct rlimit enough;

    key_with(old_pem, "ES256");
    mcpx_text_puts(&both, old_pem);
    mcpx_text_puts(&both, new_pem);
    rows[1].text = both.text;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].text)
            file_write_text(keyed.path, rows[i].text);
        else
            unlink(keyed.path);
        cr_expect(i == 0 || key_file_has_changed(keyed.file), "row %zu", i);
        reread();
        cr_expect_not(key_file_has_changed(keyed.file), "row %zu", i);
        cr_expect_eq(believes(old_pair, "ES256"), rows[i].old_good, "row %zu", i);
        cr_expect_eq(believes(new_pair, "ES256"), rows[i].new_good, "row %zu", i);
        cr_expect_eq(keyed.file->is_faulty, rows[i].is_faulty, "row %zu", i);
    }
    cr_expect_eq(keyed.file->reads, 6);
    cr_expect_eq(keyed.file->failures, 2);

    /* for a moment there is no descriptor left: the file does not change when there is again */
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &enough), 0);
    file_write_text(keyed.path, old_pem);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, enough.rlim_max}), 0);
    for (int i = 0; i < 3; i++) {
        cr_expect(key_file_has_changed(keyed.file), "it is tried again");
        reread();
        cr_expect(keyed.file->is_faulty);
        cr_expect_eq(keyed.file->failures, 3, "which is one failure");
    }
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &enough), 0);
    cr_expect(key_file_has_changed(keyed.file));
    reread();
    cr_expect(believes(old_pair, "ES256"));
    cr_expect_not(key_file_has_changed(keyed.file));
    free(old_pem);
    free(new_pem);
    EVP_PKEY_free(old_pair);
    EVP_PKEY_free(new_pair);
}
