/*
 * What breaks for whom: an operator who gives the wrong file as a key learns it at the start, and
 * an auditor checks signatures with nothing but the public half.
 */
#include "router/store/audit/audit_chain.h"

#include <criterion/criterion.h>
#include <string.h>

/* RFC 8410, section 10: a private key in PEM, and its public half. */
static const char private_pem[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
    "-----END PRIVATE KEY-----\n";
static const char public_pem[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
    "-----END PUBLIC KEY-----\n";
static const char rsa_like_pem[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMKBCTNIcKUSDii11ySs3526iDZ8A\n"
    "iTo7Tu6KPAqv7D7gS2XpJFbZiItSs3m9+9Ue6GnvHw/GW2ZZaVtszggXIw==\n"
    "-----END PUBLIC KEY-----\n";
static const char locked_pem[] =
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
    "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgH+3zbLPRcEwICCAAw\n"
    "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEN5cLLAu2JzzWmcYAiRg1ngEQGVt\n"
    "-----END ENCRYPTED PRIVATE KEY-----\n";

static const struct {
    const char *pem;
    enum audit_half half;
    enum mcpx_err err;
} rows[] = {
    {private_pem, AUDIT_PRIVATE, MCPX_OK},       {public_pem, AUDIT_PUBLIC, MCPX_OK},
    {public_pem, AUDIT_PRIVATE, MCPX_EINVALID},  {private_pem, AUDIT_PUBLIC, MCPX_EINVALID},
    {rsa_like_pem, AUDIT_PUBLIC, MCPX_EINVALID}, {locked_pem, AUDIT_PRIVATE, MCPX_EINVALID},
    {"", AUDIT_PRIVATE, MCPX_EINVALID},          {"no key\n", AUDIT_PUBLIC, MCPX_EINVALID},
};

Test(audit_key, only_an_ed25519_key_of_the_right_half_is_one)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct audit_key *key = NULL;
        struct mcpx_fault fault = {"", "", 0};
        enum mcpx_err err =
            audit_key_read(mcpx_slice_of(rows[i].pem), rows[i].half, &fault, &key);

        cr_expect_eq(err, rows[i].err, "row %zu: %s", i, mcpx_strerror(err));
        cr_expect_eq(err != MCPX_OK, fault.reason[0] != '\0', "row %zu", i);
        if (!err) /* tail -c 32 of the public half's DER | sha256sum */
            cr_expect_str_eq(audit_key_id(key), "e744c0791320c328", "row %zu: %s", i,
                             audit_key_id(key));
        audit_key_free(key);
    }
}

Test(audit_key, the_public_half_knows_what_the_private_half_signed)
{
    struct audit_key *private = NULL, *public = NULL;
    char signature[AUDIT_SIGNATURE_LEN + 1];
    struct mcpx_slice text = MCPX_SLICE("mcpx");

    cr_assert_not(audit_key_read(mcpx_slice_of(private_pem), AUDIT_PRIVATE, NULL, &private));
    cr_assert_not(audit_key_read(mcpx_slice_of(public_pem), AUDIT_PUBLIC, NULL, &public));
    cr_assert(audit_key_sign(private, text, signature));
    cr_expect_eq(strlen(signature), AUDIT_SIGNATURE_LEN);
    cr_expect(audit_key_verify(public, text, mcpx_slice_of(signature)));
    cr_expect_not(audit_key_verify(public, MCPX_SLICE("mcpy"), mcpx_slice_of(signature)));
    for (size_t i = 0; i < AUDIT_SIGNATURE_LEN; i++) {
        char kept = signature[i];

        signature[i] = kept == 'A' ? 'B' : 'A';
        cr_expect_not(audit_key_verify(public, text, mcpx_slice_of(signature)), "byte %zu", i);
        signature[i] = kept;
    }
    cr_expect_not(audit_key_verify(public, text, MCPX_SLICE("")));
    audit_key_free(private);
    audit_key_free(public);
}
