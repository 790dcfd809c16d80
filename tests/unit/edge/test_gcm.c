/*
 * What breaks for whom: everybody who speaks TLS with the router, when what it encrypts is not what
 * others decrypt, or can be read or changed on its way; and whoever else uses OpenSSL in the
 * process, when it gets a cipher that can do less than it expects. OpenSSL's own is the judge.
 */
#include "router/edge/gcm.h"
#include "router/edge/gcm_seal.h"

#include "tests/support/dice.h"

#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>

enum {
    KEY_MAX = 32,
    NONCE = 12,
    TAG = 16,
    DATA_MAX = 40000,
    RECORD_AAD = 13,
    TEXT_MAX = 70000
};

static const char *const names[] = {"AES-128-GCM", "AES-256-GCM"};

static void need_library(void)
{
    if (!gcm_library())
        cr_skip("neither this build nor this processor has it");
}

TestSuite(gcm, .init = need_library);

/* One side: ours, or OpenSSL's. */
static EVP_CIPHER_CTX *side(const char *name, bool ours)
{
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(ours ? gcm_library() : NULL, name, GCM_PREFERENCE);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();

    cr_assert_not_null(cipher);
    cr_assert_str_eq(OSSL_PROVIDER_get0_name(EVP_CIPHER_get0_provider(cipher)),
                     ours ? "mcpx" : "default");
    cr_assert(EVP_CipherInit_ex(context, cipher, NULL, NULL, NULL, 1));
    EVP_CIPHER_free(cipher);
    return context;
}

/* What is to be encrypted or decrypted. */
struct job {
    unsigned char key[KEY_MAX], nonce[NONCE], tag[TAG], aad[64];
    size_t aad_len, len;
    unsigned char in[DATA_MAX], out[DATA_MAX];
};

static void set_tag(EVP_CIPHER_CTX *context, struct job *job)
{
    cr_assert(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG, job->tag));
}

/* In random pieces, half of the time in place. Returns false when the tag is not right. */
static bool do_job(EVP_CIPHER_CTX *context, struct job *job, bool encrypts, struct dice *dice)
{
    const unsigned char *in = dice_hits(dice, 2) ? job->out : job->in;
    size_t at = 0, some;
    int len;

    memcpy(job->out, job->in, job->len);
    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, job->key, job->nonce, encrypts));
    if (!encrypts)
        set_tag(context, job);
    for (; at < job->aad_len; at += some) {
        some = 1 + dice_below(dice, job->aad_len - at);
        cr_assert(EVP_CipherUpdate(context, NULL, &len, job->aad + at, (int)some));
    }
    for (at = 0; at < job->len; at += some) {
        some = dice_hits(dice, 2) ? job->len - at : 1 + dice_below(dice, job->len - at);
        cr_assert(EVP_CipherUpdate(context, job->out + at, &len, in + at, (int)some));
        cr_assert_eq((size_t)len, some);
    }
    if (!EVP_CipherFinal_ex(context, job->out + at, &len))
        return false;
    return !encrypts || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG, job->tag);
}

static void fill(unsigned char *bytes, size_t len, struct dice *dice)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)dice_below(dice, 256);
}

static void throw_job(struct job *job, struct dice *dice)
{
    fill(job->key, sizeof job->key, dice);
    fill(job->nonce, sizeof job->nonce, dice);
    job->aad_len = dice_below(dice, sizeof job->aad + 1);
    fill(job->aad, job->aad_len, dice);
    job->len = dice_below(dice, dice_hits(dice, 4) ? DATA_MAX : 600);
    fill(job->in, job->len, dice);
}

/* ---- right ---- */

static size_t from_hex(const char *hex, unsigned char *out, size_t max)
{
    size_t len = 0;

    cr_assert(!*hex || OPENSSL_hexstr2buf_ex(out, max, &len, hex, '\0'));
    return len;
}

#define TEXT                                                                                  \
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"                        \
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
#define KEY "feffe9928665731c6d6a8f9467308308"
#define ZEROS "00000000000000000000000000000000"
#define SEALED_128                                                                            \
    "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"                        \
    "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
#define SEALED_256                                                                            \
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"                        \
    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"

/* McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 1 to 4 and 13 to 16. */
Test(gcm, gives_what_its_authors_published)
{
    static const struct {
        int size;
        const char *key, *nonce, *aad, *plain, *sealed, *tag;
    } cases[] = {
        {0, ZEROS, "000000000000000000000000", "", "", "", "58e2fccefa7e3061367f1d57a4e7455a"},
        {0, ZEROS, "000000000000000000000000", "", ZEROS, "0388dace60b6a392f328c2b971b2fe78",
         "ab6e47d42cec13bdf53a67b21257bddf"},
        {0, KEY, "cafebabefacedbaddecaf888", "", TEXT "1aafd255", SEALED_128 "473f5985",
         "4d5c2af327cd64a62cf35abd2ba6fab4"},
        {0, KEY, "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2", TEXT,
         SEALED_128, "5bc94fbc3221a5db94fae95ae7121a47"},
        {1, ZEROS ZEROS, "000000000000000000000000", "", "", "",
         "530f8afbc74536b9a963b4f1c4cb738b"},
        {1, ZEROS ZEROS, "000000000000000000000000", "", ZEROS,
         "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"},
        {1, KEY KEY, "cafebabefacedbaddecaf888", "", TEXT "1aafd255", SEALED_256 "898015ad",
         "b094dac5d93471bdec1a502270e3cc6c"},
        {1, KEY KEY, "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
         TEXT, SEALED_256, "76fc6ece0f4e1768cddf8853bb2d551b"},
    };
    static struct job job;
    struct dice dice = dice_of_seed(1);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        EVP_CIPHER_CTX *context = side(names[cases[i].size], true);
        unsigned char expected[128], tag[TAG];

        from_hex(cases[i].key, job.key, sizeof job.key);
        from_hex(cases[i].nonce, job.nonce, sizeof job.nonce);
        job.aad_len = from_hex(cases[i].aad, job.aad, sizeof job.aad);
        job.len = from_hex(cases[i].plain, job.in, sizeof job.in);
        from_hex(cases[i].sealed, expected, sizeof expected);
        from_hex(cases[i].tag, tag, sizeof tag);
        cr_assert(do_job(context, &job, true, &dice));
        cr_expect_arr_eq(job.out, expected, job.len, "case %zu", i);
        cr_expect_arr_eq(job.tag, tag, TAG, "case %zu", i);
        EVP_CIPHER_CTX_free(context);
    }
}

/* Sealed by one and opened by the other, again with the same contexts. */
Test(gcm, each_opens_what_the_other_has_sealed)
{
    static struct job job, back;
    struct dice dice = dice_of_seed(2);

    for (int i = 0; i < 4; i++) {
        EVP_CIPHER_CTX *sealer = side(names[i / 2], i % 2),
                       *opener = side(names[i / 2], !(i % 2));

        for (int round = 0; round < 500; round++) {
            throw_job(&job, &dice);
            cr_assert(do_job(sealer, &job, true, &dice));
            back = job;
            memcpy(back.in, job.out, job.len);
            cr_assert(do_job(opener, &back, false, &dice), "round %d, %zu", round, job.len);
            cr_assert_arr_eq(back.out, job.in, job.len);
        }
        EVP_CIPHER_CTX_free(sealer);
        EVP_CIPHER_CTX_free(opener);
    }
}

Test(gcm, a_copy_goes_on_where_the_original_was)
{
    static unsigned char in[1000], out[2][1000], tags[2][TAG];
    EVP_CIPHER_CTX *contexts[2] = {side(names[1], true), EVP_CIPHER_CTX_new()};
    struct dice dice = dice_of_seed(3);
    int len;

    fill(in, sizeof in, &dice);
    cr_assert(EVP_CipherInit_ex(contexts[0], NULL, NULL, in, in, 1));
    cr_assert(EVP_CipherUpdate(contexts[0], out[0], &len, in, 333));
    memcpy(out[1], out[0], 333);
    cr_assert(EVP_CIPHER_CTX_copy(contexts[1], contexts[0]));
    for (int i = 0; i < 2; i++) {
        cr_assert(EVP_CipherUpdate(contexts[i], out[i] + 333, &len, in + 333, 667));
        cr_assert(EVP_CipherFinal_ex(contexts[i], out[i], &len));
        cr_assert(EVP_CIPHER_CTX_ctrl(contexts[i], EVP_CTRL_AEAD_GET_TAG, TAG, tags[i]));
        EVP_CIPHER_CTX_free(contexts[i]);
    }
    cr_expect_arr_eq(out[0], out[1], sizeof in);
    cr_expect_arr_eq(tags[0], tags[1], TAG);
}

/* ---- wrong ---- */

Test(gcm, what_was_changed_on_its_way_is_refused)
{
    static struct job job, sealed;
    struct dice dice = dice_of_seed(4);
    EVP_CIPHER_CTX *context = side(names[1], true);

    for (int round = 0; round < 300; round++) {
        unsigned char bit = (unsigned char)(1 << dice_below(&dice, 8));

        throw_job(&job, &dice);
        cr_assert(do_job(context, &job, true, &dice));
        sealed = job;
        memcpy(sealed.in, job.out, job.len);
        if (round % 4 == 0)
            sealed.tag[dice_below(&dice, TAG)] ^= bit;
        else if (round % 4 == 1)
            sealed.nonce[dice_below(&dice, NONCE)] ^= bit;
        else if (round % 4 == 2 && sealed.aad_len)
            sealed.aad[dice_below(&dice, sealed.aad_len)] ^= bit;
        else if (sealed.len)
            sealed.in[dice_below(&dice, sealed.len)] ^= bit;
        else
            sealed.key[0] ^= bit;
        cr_expect_not(do_job(context, &sealed, false, &dice), "round %d", round);
    }
    EVP_CIPHER_CTX_free(context);
}

Test(gcm, a_nonce_is_used_once)
{
    static unsigned char bytes[64];
    EVP_CIPHER_CTX *context = side(names[0], true);
    int len;

    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, bytes, NULL, 1));
    cr_expect_not(EVP_CipherUpdate(context, bytes, &len, bytes, 9), "there is none");
    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, NULL, bytes, 1));
    cr_assert(EVP_CipherUpdate(context, bytes, &len, bytes, 9));
    cr_expect_not(EVP_CipherUpdate(context, NULL, &len, bytes, 9), "behind the data");
    cr_assert(EVP_CipherFinal_ex(context, bytes, &len));
    cr_expect_not(EVP_CipherUpdate(context, bytes, &len, bytes, 9), "behind the end");
    cr_expect_not(EVP_CipherFinal_ex(context, bytes, &len), "a second end");
    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, bytes, NULL, 1));
    cr_expect_not(EVP_CipherUpdate(context, bytes, &len, bytes, 9), "another key, no nonce");
    EVP_CIPHER_CTX_free(context);
}

Test(gcm, what_tls_does_not_need_is_refused)
{
    static unsigned char bytes[128];
    EVP_CIPHER_CTX *context = side(names[0], true);
    int len;

    cr_expect_not(EVP_CipherUpdate(context, bytes, &len, bytes, 9), "no key");
    cr_expect_not(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, 16, NULL));
    cr_expect(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, NONCE, NULL));
    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, bytes, bytes, 1));
    cr_expect_not(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG, bytes),
                  "too early");
    cr_expect_not(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG, bytes));
    cr_expect_not(EVP_CipherUpdate(context, NULL, &len, bytes, 65), "too much for a record");
    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, bytes, bytes, 0));
    cr_expect_not(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 12, bytes), "short");
    cr_assert(EVP_CipherUpdate(context, bytes, &len, bytes, 9));
    cr_expect_not(EVP_CipherFinal_ex(context, bytes, &len), "no tag to compare with");
    EVP_CIPHER_CTX_free(context);
}

/* ---- records of TLS 1.2 ---- */

/* Announces a record with `len` bytes behind its head. */
static void announce(EVP_CIPHER_CTX *context, size_t len)
{
    unsigned char head[RECORD_AAD] = {0, 0, 0, 0, 0, 0, 0, 7, 23, 3, 3};

    head[RECORD_AAD - 2] = (unsigned char)(len >> 8);
    head[RECORD_AAD - 1] = (unsigned char)len;
    cr_assert_eq(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_TLS1_AAD, RECORD_AAD, head), TAG);
}

static void begin_records(EVP_CIPHER_CTX *context, unsigned char *key, bool encrypts)
{
    static unsigned char fixed[4] = "fix";

    cr_assert(EVP_CipherInit_ex(context, NULL, NULL, key, NULL, encrypts));
    cr_assert(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_IV_FIXED, sizeof fixed, fixed));
}

Test(gcm, records_of_tls_1_2_are_the_same)
{
    static unsigned char key[KEY_MAX], text[16384], record[8 + sizeof text + TAG], before[8];
    struct dice dice = dice_of_seed(5);
    int len;

    fill(text, sizeof text, &dice);
    for (int i = 0; i < 4; i++) {
        EVP_CIPHER_CTX *sealer = side(names[i / 2], i % 2),
                       *opener = side(names[i / 2], !(i % 2));

        begin_records(sealer, key, true);
        begin_records(opener, key, false);
        for (size_t size = 0; size <= sizeof text; size += 1 + size / 3) {
            memcpy(record + 8, text, size);
            announce(sealer, 8 + size);
            cr_assert(EVP_CipherUpdate(sealer, record, &len, record, (int)(8 + size + TAG)));
            cr_assert_eq((size_t)len, 8 + size + TAG);
            cr_assert(memcmp(before, record, 8), "two records with one nonce");
            memcpy(before, record, 8);
            announce(opener, 8 + size + TAG);
            if (size % 2) {
                record[8 + size] ^= 1;
                cr_assert_not(EVP_CipherUpdate(opener, record, &len, record, len));
                continue;
            }
            cr_assert(EVP_CipherUpdate(opener, record, &len, record, len));
            cr_assert_eq((size_t)len, size);
            cr_assert_arr_eq(record + 8, text, size);
        }
        EVP_CIPHER_CTX_free(sealer);
        EVP_CIPHER_CTX_free(opener);
    }
}

/* ---- whole connections ---- */

static void certify(SSL_CTX *context)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();

    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    cr_assert(X509_sign(certificate, key, EVP_sha256()));
    cr_assert(SSL_CTX_use_certificate(context, certificate));
    cr_assert(SSL_CTX_use_PrivateKey(context, key));
    X509_free(certificate);
    EVP_PKEY_free(key);
}

static void expect(SSL *ssl, const char *text, size_t len)
{
    static char found[TEXT_MAX];
    size_t got = 0, some;

    for (; got < len; got += some)
        cr_assert(SSL_read_ex(ssl, found + got, sizeof found - got, &some));
    cr_assert_arr_eq(found, text, len);
}

static void send_across(SSL *from, SSL *to, const char *text, size_t len)
{
    size_t written;

    cr_assert(SSL_write_ex(from, text, len, &written));
    expect(to, text, len);
}

/* OpenSSL seals a record itself now and then: it has to know which number is next. */
static void pass_by(struct gcm *gcm, SSL *from, SSL *to, const char *text, size_t len)
{
    struct mcpx_text sealed = {0};

    cr_assert(gcm_seal(gcm, (struct mcpx_slice){text, len}, &sealed));
    cr_assert(gcm_seal(gcm, (struct mcpx_slice){text, len / 2}, &sealed));
    cr_assert_eq(BIO_write(SSL_get_wbio(from), sealed.text, (int)sealed.len), (int)sealed.len);
    expect(to, text, len);
    expect(to, text, len / 2);
    mcpx_text_fini(&sealed);
}

/* The other side asks for another key, and gets it with what OpenSSL writes next. */
static void change_key(SSL *server, SSL *client)
{
    char byte;

    cr_assert(SSL_key_update(client, SSL_KEY_UPDATE_REQUESTED));
    cr_assert_eq(SSL_do_handshake(client), 1);
    cr_assert_leq(SSL_read(server, &byte, 1), 0);
    cr_assert_eq(SSL_get_key_update_type(server), SSL_KEY_UPDATE_NOT_REQUESTED);
}

/* `ours`: is it our cipher? */
static void talk(const char *suite, int version, bool ours)
{
    static char text[TEXT_MAX];
    struct mcpx_text none = {0};
    struct gcm *gcm = NULL;
    SSL_CTX *contexts[] = {SSL_CTX_new_ex(gcm_library(), GCM_PREFERENCE, TLS_server_method()),
                           SSL_CTX_new(TLS_client_method())};
    SSL *server, *client;
    BIO *near, *far;

    certify(contexts[0]);
    SSL_CTX_set_num_tickets(contexts[0], 0);
    SSL_CTX_set_max_proto_version(contexts[0], version);
    cr_assert(version == TLS1_3_VERSION ? SSL_CTX_set_ciphersuites(contexts[1], suite)
                                        : SSL_CTX_set_cipher_list(contexts[1], suite));
    server = SSL_new(contexts[0]);
    client = SSL_new(contexts[1]);
    cr_assert(BIO_new_bio_pair(&near, 4 * TEXT_MAX, &far, 4 * TEXT_MAX));
    SSL_set_bio(server, near, near);
    SSL_set_bio(client, far, far);
    SSL_set_accept_state(server);
    SSL_set_connect_state(client);
    gcm_work_for(&gcm);
    for (int i = 0; SSL_do_handshake(client) + SSL_do_handshake(server) < 2; i++)
        cr_assert_lt(i, 10);
    cr_expect_str_eq(SSL_CIPHER_get_name(SSL_get_current_cipher(server)), suite);
    cr_assert_eq(gcm != NULL, ours);
    if (version == TLS1_3_VERSION)
        cr_assert_not(gcm_seal(gcm, (struct mcpx_slice){"x", 1}, &none), "its number is 0?");
    for (size_t len = 1; len <= sizeof text; len += 1 + len / 5) {
        memset(text, (int)len, len);
        if (version == TLS1_3_VERSION && len % 3 == 0)
            change_key(server, client);
        send_across(server, client, text, len);
        if (ours)
            pass_by(gcm, server, client, text, len);
        send_across(client, server, text, len);
    }
    SSL_shutdown(server);
    cr_assert_eq(SSL_read(client, text, 1), 0);
    cr_assert_eq(SSL_get_error(client, 0), SSL_ERROR_ZERO_RETURN);
    SSL_free(server);
    cr_assert_null(gcm);
    SSL_free(client);
    SSL_CTX_free(contexts[0]);
    SSL_CTX_free(contexts[1]);
}

Test(gcm, clients_with_openssls_understand_it)
{
    talk("TLS_AES_128_GCM_SHA256", TLS1_3_VERSION, true);
    talk("TLS_AES_256_GCM_SHA384", TLS1_3_VERSION, true);
    talk("TLS_CHACHA20_POLY1305_SHA256", TLS1_3_VERSION, false);
    talk("ECDHE-ECDSA-AES128-GCM-SHA256", TLS1_2_VERSION, true);
    talk("ECDHE-ECDSA-AES256-GCM-SHA384", TLS1_2_VERSION, true);
    talk("ECDHE-ECDSA-CHACHA20-POLY1305", TLS1_2_VERSION, false);
}

Test(gcm, nobody_else_gets_it)
{
    EVP_CIPHER *theirs = EVP_CIPHER_fetch(NULL, names[1], NULL);

    cr_assert_not_null(theirs);
    cr_expect_str_eq(OSSL_PROVIDER_get0_name(EVP_CIPHER_get0_provider(theirs)), "default");
    cr_expect_null(EVP_CIPHER_fetch(NULL, names[1], "provider=mcpx"));
    EVP_CIPHER_free(theirs);
}
