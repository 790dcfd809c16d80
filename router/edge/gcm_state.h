/*
 * gcm_state.h - one direction of one connection, as the provider (gcm.c) and what seals without
 * OpenSSL (gcm_seal.c) see it.
 */
#ifndef EDGE_GCM_STATE_H
#define EDGE_GCM_STATE_H

#include <intel-ipsec-mb.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * NONCE, TAG     their lengths
 * FIXED          of a nonce of TLS 1.2, what is not sent; the rest, EXPLICIT, is
 * RECORD_AAD     additional data of a record of TLS 1.2; its last two bytes are a length
 * AAD_MAX        more than any record has
 */
enum {
    NONCE = 12,
    TAG = 16,
    FIXED = 4,
    EXPLICIT = 8,
    RECORD_AAD = 13,
    AAD_MAX = 64,
    ALIGN = 64
};

/* One length of key. `update` and `finish` are decryption's and encryption's. */
struct gcm_size {
    size_t key_len;
    aes_gcm_pre_t expand;
    aes_gcm_init_t begin;
    aes_gcm_enc_dec_update_t update[2];
    aes_gcm_enc_dec_finalize_t finish[2];
};

/* What a nonce is good for: nothing when there is none or it was used, and additional
 * data first. */
enum gcm_stage { SPENT, FRESH, BEGUN };

/*
 * One direction of one connection.
 *
 * tag        computed, or to be found
 * record     the next thing is a record of TLS 1.2, with `aad`
 * fixed      of TLS 1.2: the fixed part of its nonces, and the next explicit one
 * records    of TLS 1.2: how many OpenSSL has sealed with the key
 * first      the nonce of the first record of TLS 1.3 with this key; the others count from there
 * next       the number of the next record, whoever seals it
 * has_next   OpenSSL has sealed one with the key, so `next` and `first` are known
 * ahead      how many were sealed that OpenSSL did not count
 * is_strange its numbers do not begin at 0 and go up by one, so it is no connection's
 * place      of gcm_work_for: what points here as long as this seals for a connection, or NULL
 */
struct gcm {
    struct gcm_key_data key;
    const struct gcm_size *size;
    uint64_t next, ahead;
    enum gcm_stage stage;
    bool encrypts, has_key, has_tag, has_fixed, has_next, is_strange, record;
    unsigned char first[NONCE], fixed[NONCE], nonce[NONCE], tag[TAG], aad[AAD_MAX];
    size_t aad_len;
    uint64_t len, records;
    struct gcm **place;
    struct gcm_context_data run;
};

/** It has another key. */
void gcm_note_key(struct gcm *gcm);

/** It is freed, or belongs to no connection any more. */
void gcm_note_end(struct gcm *gcm);

/**
 * OpenSSL seals a record with this nonce, which becomes that of its real number. False when it must
 * not be sealed, because its nonce may have been used.
 */
bool gcm_correct_nonce(struct gcm *gcm, unsigned char *nonce);

/** Likewise for the number of a record, which becomes the real one. */
bool gcm_correct_number(struct gcm *gcm, unsigned char *number);

/** The next nonce of TLS 1.2. */
void gcm_take_nonce(struct gcm *gcm, unsigned char *nonce);

#endif
