/*
 * gcm.c - AES-128-GCM and AES-256-GCM as a provider of OpenSSL, done by libipsec-mb.
 *
 * It does what records of TLS need: nonces of 12 bytes and tags of 16, data behind its additional
 * data, in any pieces. Anything else is refused. Of the two ways in which OpenSSL seals a record,
 * that of TLS 1.3 is the general one: nonce, additional data, data, end, tag. That of TLS 1.2
 * announces a record by its additional data, then hands it over whole, with room for the explicit
 * part of the nonce before it and for the tag behind it.
 *
 * Of libipsec-mb only functions are used that keep nothing: no queue of jobs, no manager. Where
 * there is no VAES its code is slower than OpenSSL's, and where there is no AES at all it looks
 * into tables, whose timing tells about the key; so there OpenSSL's own is used.
 */
#include "router/edge/gcm.h"
#include "router/edge/gcm_state.h"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

/* NIST SP 800-38D section 5.2.1.1: what one nonce may encrypt. */
static const uint64_t len_max = (UINT64_C(1) << 36) - 32;

static struct gcm_size size_128, size_256;

/* ---- contexts ---- */

static struct gcm *allocate(void)
{
    void *memory = NULL;

    return posix_memalign(&memory, ALIGN, sizeof(struct gcm)) ? NULL : memory;
}

static struct gcm *new_of(const struct gcm_size *size)
{
    struct gcm *gcm = allocate();

    if (gcm) {
        memset(gcm, 0, sizeof *gcm);
        gcm->size = size;
    }
    return gcm;
}

static void *new_128(void *provider)
{
    (void)provider;
    return new_of(&size_128);
}

static void *new_256(void *provider)
{
    (void)provider;
    return new_of(&size_256);
}

static void *duplicate(void *context)
{
    struct gcm *gcm = allocate();

    if (gcm) {
        memcpy(gcm, context, sizeof *gcm);
        gcm->place = NULL;
    }
    return gcm;
}

static void release(void *context)
{
    struct gcm *gcm = context;

    if (!gcm)
        return;
    gcm_note_end(gcm);
    OPENSSL_cleanse(gcm, sizeof *gcm);
    free(gcm);
}

static int start(struct gcm *gcm, const unsigned char *key, size_t key_len,
                 const unsigned char *nonce, size_t nonce_len)
{
    if ((key && key_len != gcm->size->key_len) || (nonce && nonce_len != NONCE))
        return 0;
    if (gcm->stage != FRESH)
        gcm->stage = SPENT;
    if (key) {
        gcm->size->expand(key, &gcm->key);
        gcm->has_key = true;
        gcm->records = 0;
        gcm_note_key(gcm);
    }
    if (nonce) {
        memcpy(gcm->nonce, nonce, NONCE);
        gcm->stage = SPENT;
        if (gcm->encrypts && !gcm_correct_nonce(gcm, gcm->nonce))
            return 0;
        gcm->stage = FRESH;
    }
    gcm->aad_len = 0;
    gcm->has_tag = gcm->record = false;
    return 1;
}

/* ---- the general way ---- */

static void begin(struct gcm *gcm)
{
    gcm->size->begin(&gcm->key, &gcm->run, gcm->nonce, gcm->aad, gcm->aad_len);
    gcm->stage = BEGUN;
    gcm->len = 0;
}

static bool add_aad(struct gcm *gcm, const unsigned char *in, size_t len)
{
    if (gcm->stage != FRESH || len > AAD_MAX - gcm->aad_len)
        return false;
    memcpy(gcm->aad + gcm->aad_len, in, len);
    gcm->aad_len += len;
    return true;
}

static bool add_data(struct gcm *gcm, unsigned char *out, const unsigned char *in, size_t len)
{
    if (gcm->stage == FRESH)
        begin(gcm);
    if (len > len_max - gcm->len)
        return false;
    gcm->len += len;
    gcm->size->update[gcm->encrypts](&gcm->key, &gcm->run, out, in, len);
    return true;
}

/* Computes the tag, and when decrypting compares it with the other side's. */
static bool finish(struct gcm *gcm, unsigned char *tag)
{
    unsigned char found[TAG];

    if (gcm->stage == FRESH)
        begin(gcm);
    gcm->stage = SPENT;
    gcm->size->finish[gcm->encrypts](&gcm->key, &gcm->run, found, TAG);
    if (!gcm->encrypts)
        return CRYPTO_memcmp(found, tag, TAG) == 0;
    memcpy(tag, found, TAG);
    return true;
}

/* ---- TLS 1.2 ---- */

/* Both sides of a connection count on from a random number, so that no nonce comes twice. */
static bool take_fixed(struct gcm *gcm, const unsigned char *bytes, size_t len)
{
    if (len != FIXED)
        return false;
    memcpy(gcm->fixed, bytes, len);
    gcm->has_fixed =
        !gcm->encrypts || RAND_bytes_ex(gcm_library(), gcm->fixed + FIXED, EXPLICIT, 0) == 1;
    return gcm->has_fixed;
}

/* The announced length counts the explicit nonce, and from the other side the tag: not data. */
static bool announce(struct gcm *gcm, const unsigned char *bytes, size_t len)
{
    size_t extra = EXPLICIT + (gcm->encrypts ? 0 : TAG), said;

    if (len != RECORD_AAD)
        return false;
    said = (size_t)bytes[RECORD_AAD - 2] << 8 | bytes[RECORD_AAD - 1];
    if (said < extra)
        return false;
    said -= extra;
    memcpy(gcm->aad, bytes, RECORD_AAD);
    if (gcm->encrypts && !gcm_correct_number(gcm, gcm->aad))
        return false;
    gcm->aad[RECORD_AAD - 2] = (unsigned char)(said >> 8);
    gcm->aad[RECORD_AAD - 1] = (unsigned char)said;
    gcm->aad_len = RECORD_AAD;
    gcm->record = true;
    return true;
}

/* Returns the length of what was sealed, or opened; 0 is a record without data. */
static bool pass_record(struct gcm *gcm, unsigned char *bytes, size_t len, size_t *passed)
{
    size_t data;

    gcm->record = false;
    gcm->stage = SPENT;
    if (!gcm->has_fixed || len < EXPLICIT + TAG || (gcm->encrypts && ++gcm->records == 0))
        return false;
    data = len - EXPLICIT - TAG;
    if (gcm->encrypts) {
        gcm_take_nonce(gcm, gcm->nonce);
        memcpy(bytes, gcm->nonce + FIXED, EXPLICIT);
    } else {
        memcpy(gcm->nonce, gcm->fixed, FIXED);
        memcpy(gcm->nonce + FIXED, bytes, EXPLICIT);
    }
    gcm->stage = FRESH;
    bytes += EXPLICIT;
    if ((data && !add_data(gcm, bytes, bytes, data)) || !finish(gcm, bytes + data)) {
        OPENSSL_cleanse(bytes, data);
        return false;
    }
    *passed = gcm->encrypts ? len : data;
    return true;
}

/* ---- what OpenSSL calls ---- */

static int update(void *context, unsigned char *out, size_t *passed, size_t room,
                  const unsigned char *in, size_t len)
{
    struct gcm *gcm = context;

    *passed = 0;
    if (len == 0)
        return 1;
    if (!gcm->has_key || (out && room < len))
        return 0;
    if (gcm->record)
        return out && out == in && pass_record(gcm, out, len, passed);
    if (gcm->stage == SPENT || !(out ? add_data(gcm, out, in, len) : add_aad(gcm, in, len)))
        return 0;
    *passed = len;
    return 1;
}

static int end(void *context, unsigned char *out, size_t *passed, size_t room)
{
    struct gcm *gcm = context;
    void *untouched = out;

    (void)untouched;
    (void)room;
    *passed = 0;
    if (!gcm->has_key || gcm->record || gcm->stage == SPENT ||
        (!gcm->encrypts && !gcm->has_tag))
        return 0;
    gcm->has_tag = gcm->encrypts;
    return finish(gcm, gcm->tag);
}

static int set_params(void *context, const OSSL_PARAM params[])
{
    struct gcm *gcm = context;
    bool good = true;
    size_t len;

    for (const OSSL_PARAM *param = params; good && param && param->key; param++) {
        if (!strcmp(param->key, OSSL_CIPHER_PARAM_AEAD_TAG)) {
            good = !gcm->encrypts && param->data && param->data_size == TAG;
            if (good)
                memcpy(gcm->tag, param->data, TAG);
            gcm->has_tag = good;
        } else if (!strcmp(param->key, OSSL_CIPHER_PARAM_AEAD_IVLEN)) {
            good = OSSL_PARAM_get_size_t(param, &len) && len == NONCE;
        } else if (!strcmp(param->key, OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED)) {
            good = take_fixed(gcm, param->data, param->data_size);
        } else if (!strcmp(param->key, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD)) {
            good = announce(gcm, param->data, param->data_size);
        }
    }
    return good;
}

static int get_params(void *context, OSSL_PARAM params[])
{
    struct gcm *gcm = context;
    bool good = true;

    for (OSSL_PARAM *param = params; good && param && param->key; param++) {
        if (!strcmp(param->key, OSSL_CIPHER_PARAM_IVLEN))
            good = OSSL_PARAM_set_size_t(param, NONCE);
        else if (!strcmp(param->key, OSSL_CIPHER_PARAM_KEYLEN))
            good = OSSL_PARAM_set_size_t(param, gcm->size->key_len);
        else if (!strcmp(param->key, OSSL_CIPHER_PARAM_AEAD_TAGLEN) ||
                 !strcmp(param->key, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD))
            good = OSSL_PARAM_set_size_t(param, TAG);
        else if (!strcmp(param->key, OSSL_CIPHER_PARAM_AEAD_TAG))
            good = gcm->encrypts && gcm->has_tag && param->data_size == TAG &&
                   OSSL_PARAM_set_octet_string(param, gcm->tag, TAG);
    }
    return good;
}

static int init_to(struct gcm *gcm, bool encrypts)
{
    if (gcm->encrypts != encrypts)
        gcm->has_fixed = false;
    gcm->encrypts = encrypts;
    return 1;
}

static int init_encrypt(void *context, const unsigned char *key, size_t key_len,
                        const unsigned char *nonce, size_t nonce_len,
                        const OSSL_PARAM params[])
{
    return init_to(context, true) && start(context, key, key_len, nonce, nonce_len) &&
           set_params(context, params);
}

static int init_decrypt(void *context, const unsigned char *key, size_t key_len,
                        const unsigned char *nonce, size_t nonce_len,
                        const OSSL_PARAM params[])
{
    return init_to(context, false) && start(context, key, key_len, nonce, nonce_len) &&
           set_params(context, params);
}

/* What is true of the ciphers before there is a key. */
static int describe(OSSL_PARAM params[], size_t key_len)
{
    static const struct {
        const char *key;
        size_t value;
    } facts[] = {{OSSL_CIPHER_PARAM_MODE, EVP_CIPH_GCM_MODE},
                 {OSSL_CIPHER_PARAM_AEAD, 1},
                 {OSSL_CIPHER_PARAM_CUSTOM_IV, 1},
                 {OSSL_CIPHER_PARAM_BLOCK_SIZE, 1},
                 {OSSL_CIPHER_PARAM_IVLEN, NONCE},
                 {OSSL_CIPHER_PARAM_KEYLEN, 0}};

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        OSSL_PARAM *param = OSSL_PARAM_locate(params, facts[i].key);
        size_t value = facts[i].value ? facts[i].value : key_len;

        if (param &&
            !(param->data_type == OSSL_PARAM_INTEGER ? OSSL_PARAM_set_int(param, (int)value)
                                                     : OSSL_PARAM_set_size_t(param, value)))
            return 0;
    }
    return 1;
}

static int describe_128(OSSL_PARAM params[])
{
    return describe(params, IMB_GCM_128_KEY_LEN);
}

static int describe_256(OSSL_PARAM params[])
{
    return describe(params, IMB_GCM_256_KEY_LEN);
}

typedef void (*call)(void);

#define CALLS(bits)                                                                           \
    {                                                                                         \
        {OSSL_FUNC_CIPHER_NEWCTX, (call)new_##bits},                                          \
            {OSSL_FUNC_CIPHER_FREECTX, (call)release},                                        \
            {OSSL_FUNC_CIPHER_DUPCTX, (call)duplicate},                                       \
            {OSSL_FUNC_CIPHER_ENCRYPT_INIT, (call)init_encrypt},                              \
            {OSSL_FUNC_CIPHER_DECRYPT_INIT, (call)init_decrypt},                              \
            {OSSL_FUNC_CIPHER_UPDATE, (call)update}, {OSSL_FUNC_CIPHER_FINAL, (call)end},     \
            {OSSL_FUNC_CIPHER_GET_PARAMS, (call)describe_##bits},                             \
            {OSSL_FUNC_CIPHER_GET_CTX_PARAMS, (call)get_params},                              \
            {OSSL_FUNC_CIPHER_SET_CTX_PARAMS, (call)set_params},                              \
        {                                                                                     \
            0, NULL                                                                           \
        }                                                                                     \
    }

static const OSSL_DISPATCH calls_128[] = CALLS(128), calls_256[] = CALLS(256);

/* Names are those that OpenSSL has for its own, all of them. */
static const OSSL_ALGORITHM ciphers[] = {
    {"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6", "provider=mcpx", calls_128, NULL},
    {"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46", "provider=mcpx", calls_256, NULL},
    {NULL, NULL, NULL, NULL}};

static const OSSL_ALGORITHM *query(void *provider, int operation, int *no_cache)
{
    (void)provider;
    *no_cache = 0;
    return operation == OSSL_OP_CIPHER ? ciphers : NULL;
}

static int open_provider(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in,
                         const OSSL_DISPATCH **out, void **provider)
{
    static const OSSL_DISPATCH calls[] = {{OSSL_FUNC_PROVIDER_QUERY_OPERATION, (call)query},
                                          {0, NULL}};
    static char none;

    (void)handle;
    (void)in;
    *out = calls;
    *provider = &none;
    return 1;
}

/* ---- the library ---- */

#define SIZE(manager, bits)                                                                   \
    (struct gcm_size)                                                                         \
    {                                                                                         \
        .key_len = IMB_GCM_##bits##_KEY_LEN, .expand = (manager)->gcm##bits##_pre,            \
        .begin = (manager)->gcm##bits##_init,                                                 \
        .update = {(manager)->gcm##bits##_dec_update, (manager)->gcm##bits##_enc_update},     \
        .finish = {(manager)->gcm##bits##_dec_finalize, (manager)->gcm##bits##_enc_finalize}, \
    }

/* The manager knows which code is for this processor, and has tried it. */
static bool choose_code(void)
{
    static const uint64_t wanted =
        IMB_FEATURE_VAES | IMB_FEATURE_VPCLMULQDQ | IMB_FEATURE_SELF_TEST_PASS;
    IMB_MGR *manager = alloc_mb_mgr(0);
    IMB_ARCH arch = IMB_ARCH_NONE;
    bool good;

    if (!manager)
        return false;
    init_mb_mgr_auto(manager, &arch);
    good = arch == IMB_ARCH_AVX512 && (manager->features & wanted) == wanted &&
           imb_get_errno(manager) == 0;
    if (good) {
        size_128 = SIZE(manager, 128);
        size_256 = SIZE(manager, 256);
    }
    free_mb_mgr(manager);
    return good;
}

static OSSL_LIB_CTX *make(void)
{
    OSSL_LIB_CTX *library;

    if (EVP_default_properties_is_fips_enabled(NULL) || !choose_code())
        return NULL;
    library = OSSL_LIB_CTX_new();
    if (library && OSSL_PROVIDER_add_builtin(library, "mcpx", open_provider) &&
        OSSL_PROVIDER_load(library, "default") && OSSL_PROVIDER_load(library, "mcpx"))
        return library;
    OSSL_LIB_CTX_free(library);
    return NULL;
}

OSSL_LIB_CTX *gcm_library(void)
{
    static OSSL_LIB_CTX *library;
    static bool made;

    if (!made)
        library = make();
    made = true;
    return library;
}
