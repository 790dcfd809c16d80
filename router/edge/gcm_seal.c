/*
 * gcm_seal.c - OpenSSL shakes hands, changes keys and says the end; what lies between, which is all
 * that is delivered, is sealed here with the keys that it has given to the provider. Both count the
 * records of a key, and OpenSSL counts only its own, so its numbers are raised by as many as were
 * sealed here (`ahead`): no number comes twice, and none is left out.
 *
 * The nonce of TLS 1.3 is the number of the record, xor a secret that the provider is not told. The
 * first record of a key has the number 0, so its nonce is that secret; it is left to OpenSSL.
 */
#include "router/edge/gcm_seal.h"

#include "router/edge/gcm_state.h"

/*
 * RECORD_MAX     the most that a record holds
 * HEAD           of a record: sort, version, length
 * RECORD_EXTRA   what a record has besides its data, at most
 * SORT           of data of the application
 */
enum { RECORD_MAX = 16384, HEAD = 5, RECORD_EXTRA = HEAD + EXPLICIT + TAG, SORT = 23 };

static struct gcm **working_for;

/* Of the record being sealed: one for all, so it is in the processor's cache. libipsec-mb
 * clears it at the end of a record. */
static struct gcm_context_data run;

static uint64_t get_number(const unsigned char *bytes)
{
    uint64_t number = 0;

    for (int i = 0; i < EXPLICIT; i++)
        number = number << 8 | bytes[i];
    return number;
}

static void put_number(unsigned char *bytes, uint64_t number)
{
    for (int i = EXPLICIT - 1; i >= 0; i--, number >>= 8)
        bytes[i] = (unsigned char)number;
}

/* ---- what OpenSSL does meanwhile ---- */

void gcm_work_for(struct gcm **place)
{
    working_for = place;
}

void gcm_note_key(struct gcm *gcm)
{
    gcm->has_next = gcm->is_strange = false;
    gcm->next = gcm->ahead = 0;
    gcm_note_end(gcm);
    gcm->place = gcm->encrypts ? working_for : NULL;
    if (gcm->place)
        *gcm->place = gcm;
}

void gcm_note_end(struct gcm *gcm)
{
    if (gcm->place && *gcm->place == gcm)
        *gcm->place = NULL;
}

/* When OpenSSL leaves the sequence, the numbers that it takes could be ours. */
bool gcm_correct_number(struct gcm *gcm, unsigned char *number)
{
    if (get_number(number) != gcm->next - gcm->ahead)
        gcm->is_strange = true;
    if (gcm->is_strange)
        return gcm->ahead == 0;
    put_number(number, gcm->next++);
    gcm->has_next = true;
    return true;
}

static void mask(const struct gcm *gcm, unsigned char *nonce)
{
    for (int i = 0; i < NONCE; i++)
        nonce[i] ^= gcm->first[i];
}

bool gcm_correct_nonce(struct gcm *gcm, unsigned char *nonce)
{
    bool good;

    if (!gcm->has_next)
        memcpy(gcm->first, nonce, NONCE);
    mask(gcm, nonce);
    good = gcm_correct_number(gcm, nonce + FIXED);
    mask(gcm, nonce);
    return good;
}

void gcm_take_nonce(struct gcm *gcm, unsigned char *nonce)
{
    memcpy(nonce, gcm->fixed, NONCE);
    put_number(gcm->fixed + FIXED, get_number(nonce + FIXED) + 1);
}

/* ---- records ---- */

static void put_head(unsigned char *head, size_t len)
{
    head[0] = SORT;
    head[1] = head[2] = 3; /* TLS 1.2; those of TLS 1.3 say so as well */
    head[3] = (unsigned char)(len >> 8);
    head[4] = (unsigned char)len;
}

/* RFC 8446 section 5.2: the sort is said once more behind the data, where nobody sees it. */
static size_t seal_1_3(struct gcm *gcm, unsigned char *out, const char *data, size_t len)
{
    static const unsigned char sort = SORT;
    const struct gcm_size *size = gcm->size;
    unsigned char nonce[NONCE] = {0}, *sealed = out + HEAD;

    put_head(out, len + 1 + TAG);
    put_number(nonce + FIXED, gcm->next);
    mask(gcm, nonce);
    size->begin(&gcm->key, &run, nonce, out, HEAD);
    size->update[1](&gcm->key, &run, sealed, (const unsigned char *)data, len);
    size->update[1](&gcm->key, &run, sealed + len, &sort, 1);
    size->finish[1](&gcm->key, &run, sealed + len + 1, TAG);
    return HEAD + len + 1 + TAG;
}

/* RFC 5246 section 6.2.3.3, RFC 5288 section 3: a part of the nonce is sent. */
static size_t seal_1_2(struct gcm *gcm, unsigned char *out, const char *data, size_t len)
{
    const struct gcm_size *size = gcm->size;
    unsigned char aad[RECORD_AAD], nonce[NONCE], *sealed = out + HEAD + EXPLICIT;

    put_number(aad, gcm->next);
    put_head(aad + EXPLICIT, len);
    put_head(out, EXPLICIT + len + TAG);
    gcm_take_nonce(gcm, nonce);
    memcpy(out + HEAD, nonce + FIXED, EXPLICIT);
    size->begin(&gcm->key, &run, nonce, aad, RECORD_AAD);
    size->update[1](&gcm->key, &run, sealed, (const unsigned char *)data, len);
    size->finish[1](&gcm->key, &run, sealed + len, TAG);
    return HEAD + EXPLICIT + len + TAG;
}

bool gcm_seal(struct gcm *gcm, struct mcpx_slice bytes, struct mcpx_text *out)
{
    size_t records = bytes.len / RECORD_MAX + 1;

    if (!gcm || !gcm->has_next || gcm->is_strange ||
        !mcpx_text_reserve(out, bytes.len + records * RECORD_EXTRA))
        return false;
    while (bytes.len > 0) {
        unsigned char *to = (unsigned char *)out->text + out->len;
        size_t len = bytes.len < RECORD_MAX ? bytes.len : RECORD_MAX;

        out->len += (gcm->has_fixed ? seal_1_2 : seal_1_3)(gcm, to, bytes.text, len);
        gcm->next++;
        gcm->ahead++;
        bytes.text += len;
        bytes.len -= len;
    }
    return true;
}
