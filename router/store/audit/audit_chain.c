/*
 * audit_chain.c - the growing chain. Its state is a number and a digest: a copy of the struct is
 * enough to take back a batch that did not fit on the disk.
 */
#include "router/store/audit/audit_chain.h"

#include "lib/base/fault.h"
#include "lib/base/ident.h"
#include "lib/base/scoped.h"
#include "lib/json/digest.h"
#include "lib/json/json_write.h"
#include "lib/wire/pem.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>

void audit_chain_begin(struct audit_chain *chain)
{
    *chain = (struct audit_chain){.seq = 1};
    memcpy(chain->prev, audit_prev_none, sizeof chain->prev);
}

/* `line` includes its line feed. */
static enum mcpx_err follow(struct audit_chain *chain, struct mcpx_slice line)
{
    enum mcpx_err err = mcpx_digest_bytes(line, chain->prev);

    if (!err)
        chain->seq++;
    return err;
}

enum mcpx_err audit_chain_continue(struct audit_chain *chain, struct mcpx_slice text)
{
    struct audit_chain next = {0};
    struct audit_line line;
    enum mcpx_err err;

    if (!audit_line_read((struct mcpx_slice){text.text, text.len - 1}, &line))
        return MCPX_EINVALID;
    next.seq = line.seq;
    next.unsigned_count = line.what != AUDIT_CHECKPOINT;
    err = follow(&next, text);
    if (!err)
        *chain = next;
    return err;
}

/* Adds the line that was appended behind `start` to the chain. */
static uint64_t taken(struct audit_chain *chain, struct mcpx_text *out, size_t start)
{
    uint64_t seq = chain->seq;

    if (!out->failed &&
        follow(chain, (struct mcpx_slice){out->text + start, out->len - start}) == MCPX_OK)
        return seq;
    out->failed = true;
    return 0;
}

uint64_t audit_chain_add(struct audit_chain *chain, const struct audit_note *note,
                         bool payloads, struct mcpx_text *out)
{
    struct audit_head head = {chain->seq, chain->prev};
    size_t start = out->len;
    uint64_t seq;

    audit_line_add(out, &head, note, payloads);
    seq = taken(chain, out, start);
    chain->unsigned_count += seq != 0;
    return seq;
}

void audit_chain_signed_text(struct mcpx_text *out, const struct audit_head *head,
                             struct mcpx_slice time)
{
    mx_format(out, "mcpx-audit-checkpoint\n%s\n%s\n%s\n", head->seq, time, head->prev);
}

void audit_chain_checkpoint(struct mcpx_text *out, const struct audit_head *head,
                            int64_t wall_ms, struct mcpx_slice key_id,
                            struct mcpx_slice signature)
{
    audit_line_begin(out, head, AUDIT_CHECKPOINT, wall_ms);
    mx_format(out, ",\"key\":%q,\"signature\":%q}\n", key_id, signature);
}

uint64_t audit_chain_sign(struct audit_chain *chain, const struct audit_key *key,
                          int64_t wall_ms, struct mcpx_text *out)
{
    struct audit_head head = {chain->seq, chain->prev};
    char time[MX_TIME_LEN + 1], signature[AUDIT_SIGNATURE_LEN + 1];
    mx_scoped_text text = {0};
    size_t start = out->len;
    uint64_t seq;

    mx_time_format(wall_ms, time);
    audit_chain_signed_text(&text, &head, mcpx_slice_of(time));
    if (text.failed || !audit_key_sign(key, mcpx_text_view(&text), signature))
        out->failed = true;
    else
        audit_chain_checkpoint(out, &head, wall_ms, mcpx_slice_of(audit_key_id(key)),
                               mcpx_slice_of(signature));
    seq = taken(chain, out, start);
    if (seq)
        chain->unsigned_count = 0;
    return seq;
}

/*
 * Ed25519 by libcrypto. Keys are in PEM, the format of "openssl genpkey" and of secret stores.
 * Rejected: raw bytes. A passphrase is refused, because libcrypto would ask the terminal.
 */

enum { PUBLIC_BYTES = 32, SIGNATURE_BYTES = 64 };

struct audit_key {
    EVP_PKEY *key;
    char id[AUDIT_KEY_ID_LEN + 1];
};

static EVP_PKEY *parse(struct mcpx_slice pem, enum audit_half half)
{
    BIO *bio =
        pem.len <= INT_MAX ? BIO_new_mem_buf(pem.text ? pem.text : "", (int)pem.len) : NULL;
    EVP_PKEY *key = NULL;

    if (bio && half == AUDIT_PRIVATE)
        key = PEM_read_bio_PrivateKey(bio, NULL, mx_no_passphrase, NULL);
    else if (bio)
        key = PEM_read_bio_PUBKEY(bio, NULL, mx_no_passphrase, NULL);
    BIO_free(bio);
    return key;
}

static bool name_key(struct audit_key *key)
{
    unsigned char public[PUBLIC_BYTES], sum[MX_SHA256_BYTES];
    size_t len = sizeof public;

    if (EVP_PKEY_get_raw_public_key(key->key, public, &len) != 1 ||
        !mx_sha256((struct mcpx_slice){(const char *)public, len}, sum))
        return false;
    mx_hex_format(sum, AUDIT_KEY_ID_LEN / 2, key->id);
    return true;
}

enum mcpx_err audit_key_read(struct mcpx_slice pem, enum audit_half half,
                             struct mcpx_fault *fault, struct audit_key **out)
{
    struct audit_key *key = calloc(1, sizeof *key);
    enum mcpx_err err = MCPX_OK;

    if (!key)
        return MCPX_ENOMEM;
    key->key = parse(pem, half);
    if (!key->key || EVP_PKEY_get_id(key->key) != EVP_PKEY_ED25519)
        err = mx_fault_set(fault,
                           half == AUDIT_PRIVATE
                               ? "expected a private Ed25519 key in PEM without a passphrase"
                               : "expected a public Ed25519 key in PEM",
                           "", 0);
    else if (!name_key(key))
        err = MCPX_ENOMEM;
    if (err)
        audit_key_free(key);
    else
        *out = key;
    return err;
}

void audit_key_free(struct audit_key *key)
{
    if (!key)
        return;
    EVP_PKEY_free(key->key);
    free(key);
}

const char *audit_key_id(const struct audit_key *key)
{
    return key->id;
}

bool audit_key_sign(const struct audit_key *key, struct mcpx_slice text,
                    char out[AUDIT_SIGNATURE_LEN + 1])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    unsigned char signature[SIGNATURE_BYTES];
    size_t len = sizeof signature;
    bool done = context && EVP_DigestSignInit(context, NULL, NULL, NULL, key->key) == 1 &&
                EVP_DigestSign(context, signature, &len, (const unsigned char *)text.text,
                               text.len) == 1;

    if (done)
        EVP_EncodeBlock((unsigned char *)out, signature, (int)len);
    EVP_MD_CTX_free(context);
    return done;
}

/* Encodes again and compares: libcrypto ignores white space and rounds up to whole groups. */
static bool decode(struct mcpx_slice text, unsigned char out[SIGNATURE_BYTES])
{
    unsigned char bytes[AUDIT_SIGNATURE_LEN], again[AUDIT_SIGNATURE_LEN + 1];

    if (text.len != AUDIT_SIGNATURE_LEN ||
        EVP_DecodeBlock(bytes, (const unsigned char *)text.text, AUDIT_SIGNATURE_LEN) <
            SIGNATURE_BYTES)
        return false;
    EVP_EncodeBlock(again, bytes, SIGNATURE_BYTES);
    memcpy(out, bytes, SIGNATURE_BYTES);
    return memcmp(again, text.text, AUDIT_SIGNATURE_LEN) == 0;
}

bool audit_key_verify(const struct audit_key *key, struct mcpx_slice text,
                      struct mcpx_slice signature)
{
    unsigned char bytes[SIGNATURE_BYTES];
    EVP_MD_CTX *context;
    bool valid;

    if (!decode(signature, bytes))
        return false;
    context = EVP_MD_CTX_new();
    valid = context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key->key) == 1 &&
            EVP_DigestVerify(context, bytes, sizeof bytes, (const unsigned char *)text.text,
                             text.len) == 1;
    EVP_MD_CTX_free(context);
    return valid;
}
