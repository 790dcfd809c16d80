/*
 * What breaks for whom: all whose messages are delivered under TLS, when two records are sealed
 * with one nonce, or one with the key of somebody else. The cipher is asked here for what OpenSSL
 * 3.0 never does.
 */
#include "router/edge/gcm.h"
#include "router/edge/gcm_seal.h"

#include <criterion/criterion.h>
#include <openssl/evp.h>

enum { KEY = 16, NONCE = 12 };

static void need_library(void)
{
    if (!gcm_library())
        cr_skip("neither this build nor this processor has it");
}

TestSuite(gcm_seal, .init = need_library);

static EVP_CIPHER_CTX *make(void)
{
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(gcm_library(), "AES-128-GCM", GCM_PREFERENCE);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();

    cr_assert(EVP_CipherInit_ex(context, cipher, NULL, NULL, NULL, 1));
    EVP_CIPHER_free(cipher);
    return context;
}

/* As OpenSSL seals a record of TLS 1.3. */
static bool seal_number(EVP_CIPHER_CTX *context, unsigned char number)
{
    unsigned char nonce[NONCE] = {[NONCE - 1] = 0x55 ^ number}, byte = 0;
    int len;

    return EVP_CipherInit_ex(context, NULL, NULL, NULL, nonce, 1) &&
           EVP_CipherUpdate(context, &byte, &len, &byte, 1) &&
           EVP_CipherFinal_ex(context, &byte, &len);
}

/* Two records with one nonce tell what is in both, and let anybody forge a third. */
Test(gcm_seal, numbers_that_are_out_of_order_never_meet)
{
    static unsigned char key[KEY];
    struct mcpx_text out = {0};
    struct mcpx_slice byte = {"x", 1};
    struct gcm *gcm = NULL;
    EVP_CIPHER_CTX *context = make();

    gcm_work_for(&gcm);
    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, key, NULL, 1));
    cr_expect(seal_number(context, 0));
    cr_expect(gcm_seal(gcm, byte, &out));
    cr_expect(seal_number(context, 1));
    cr_expect_not(seal_number(context, 1), "the second time");
    cr_expect_not(EVP_CipherUpdate(context, key, &(int){0}, key, 1), "there is no nonce");
    cr_expect_not(gcm_seal(gcm, byte, &out));
    cr_expect_not(seal_number(context, 2), "nor ever again with this key");

    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, key, NULL, 1));
    cr_expect(seal_number(context, 0));
    cr_expect(seal_number(context, 9), "what is no record has any nonces");
    cr_expect_not(gcm_seal(gcm, byte, &out));
    mcpx_text_fini(&out);
    EVP_CIPHER_CTX_free(context);
}

/* Who seals with what was freed, or with the key of another, tells all that is delivered. */
Test(gcm_seal, a_session_never_keeps_what_is_not_its_own)
{
    static unsigned char key[KEY];
    struct gcm *one = NULL, *other = NULL;
    EVP_CIPHER_CTX *context = make();

    gcm_work_for(&one);
    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, key, NULL, 1));
    cr_assert_not_null(one);
    gcm_work_for(&other);
    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, key, NULL, 1));
    cr_expect_null(one);
    cr_assert_not_null(other);
    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, key, NULL, 0));
    cr_expect_null(other, "this key opens what comes in");
    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, key, NULL, 1));
    EVP_CIPHER_CTX_free(context);
    cr_expect_null(other);
}
