/*
 * jwt.c - first checks the outer form and the header of a token, without a key. Of the header it
 * reads only alg, kid, typ, crit and b64, and ignores keys and addresses in it (jwk, jku, x5c,
 * x5u). Then it tries only keys configured for the algorithm in the header, so a token cannot
 * choose its verification (RFC 8725 section 3.1). Its dates, issuer and audience come last.
 */
#include "router/policy/identity/jwt.h"

#include "lib/base/digits.h"
#include "lib/base/scoped.h"
#include "lib/json/json_write.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <strings.h>

/* 9999-12-31T23:59:59Z; later dates count as this one. */
static const int64_t date_max = 253402300799;

/* ---- before a key is known ---- */

/* A parsed token; its content is not verified yet. */
struct jwt_parts {
    struct mcpx_slice covered;           /* the signed text; borrowed from the token */
    struct mcpx_text payload, signature; /* decoded, owned */
    json_t *header;                      /* owned; `kid` (NULL = none) points into it */
    const struct jwt_alg *alg;
    const char *kid;
    /* Borrowed: state of the signature; NULL = it is verified at once. */
    struct jwt_signature *known;
};

static enum mcpx_err decode_part(struct mcpx_slice part, struct mcpx_text *out)
{
    bool valid = part.len > 0 && mx_base64url_decode(part, out);

    if (out->failed)
        return MCPX_ENOMEM;
    return valid ? MCPX_OK : MCPX_ETOKEN;
}

static bool is_text_or_absent(const json_t *value)
{
    return !value || json_is_string(value);
}

/*
 * RFC 8725 section 3.11: a token signed for another purpose, such as a logout token, is refused.
 * "application/" may precede the type (RFC 7515 section 4.1.9).
 */
static bool is_access_token(const json_t *typ)
{
    static const char prefix[] = "application/";
    const char *text = json_string_value(typ);

    if (!typ)
        return true;
    if (text && strncasecmp(text, prefix, strlen(prefix)) == 0)
        text += strlen(prefix);
    return text && (strcasecmp(text, "JWT") == 0 || strcasecmp(text, "at+jwt") == 0);
}

/* Returns NULL when the router understands the header completely. */
static const char *read_header(struct jwt_parts *parts)
{
    const json_t *kid = json_object_get(parts->header, "kid");
    const char *alg = json_string_value(json_object_get(parts->header, "alg"));

    if (!is_text_or_absent(kid))
        return "the kid in its header is not a string";
    if (!is_access_token(json_object_get(parts->header, "typ")))
        return "the typ in its header is neither JWT nor at+jwt";
    /* RFC 7515 section 4.1.11: a token with an unknown critical header is refused. */
    if (json_object_get(parts->header, "crit") || json_object_get(parts->header, "b64"))
        return "its header has crit or b64";
    parts->kid = json_string_value(kid);
    parts->alg = alg ? jwt_alg_find(alg) : NULL;
    return parts->alg ? NULL : "the alg in its header is none that is known";
}

/* Reads a JSON object without duplicate names. `out` may be filled on failure, too. */
static enum mcpx_err parse_object(const struct mcpx_text *text, json_t **out)
{
    json_error_t fault;

    *out = json_loadb(text->text, text->len, JSON_REJECT_DUPLICATES, &fault);
    if (json_is_object(*out))
        return MCPX_OK;
    return !*out && json_error_code(&fault) == json_error_out_of_memory ? MCPX_ENOMEM
                                                                        : MCPX_ETOKEN;
}

/* Parses a token, and checks its outer form and its header. `why` is filled on MCPX_ETOKEN. */
static enum mcpx_err parts_read(struct mcpx_slice token, struct jwt_parts *parts,
                                const char **why)
{
    struct mcpx_slice rest = token;
    struct mcpx_slice header = mx_cut_at(&rest, '.');
    struct mcpx_slice payload = mx_cut_at(&rest, '.');
    mx_scoped_text text = {0};
    enum mcpx_err err;

    *why = "it is not three parts of base64url";
    /* A fourth part would leave a dot in the signature, which is not base64url. */
    err = decode_part(rest, &parts->signature);
    if (!err)
        err = decode_part(payload, &parts->payload);
    if (!err)
        err = decode_part(header, &text);
    if (err)
        return err;
    *why = "its header is not a JSON object with each name once";
    err = parse_object(&text, &parts->header);
    if (err)
        return err;
    *why = read_header(parts);
    parts->covered = (struct mcpx_slice){token.text, header.len + 1 + payload.len};
    return *why ? MCPX_ETOKEN : MCPX_OK;
}

static void parts_fini(struct jwt_parts *parts)
{
    mcpx_text_fini(&parts->payload);
    mcpx_text_fini(&parts->signature);
    json_decref(parts->header);
}

bool jwt_date(const json_t *value, int64_t *wall_ms)
{
    double real = json_number_value(value);

    if (!json_is_number(value))
        return false;
    if (real >= (double)date_max)
        *wall_ms = date_max * 1000;
    else if (real <= 0)
        *wall_ms = 0;
    else
        *wall_ms = (int64_t)(real * 1000);
    return true;
}

static const char *dates_fault(const json_t *claims, int64_t wall_ms)
{
    const json_t *exp = json_object_get(claims, "exp");
    const json_t *nbf = json_object_get(claims, "nbf");
    const json_t *iat = json_object_get(claims, "iat");
    int64_t end = INT64_MAX - JWT_LEEWAY_MS, begin = 0, made = 0;

    if ((exp && !jwt_date(exp, &end)) || (nbf && !jwt_date(nbf, &begin)) ||
        (iat && !jwt_date(iat, &made)))
        return "its exp, nbf or iat is not a number";
    if (wall_ms >= end + JWT_LEEWAY_MS)
        return "expired";
    if (wall_ms < begin - JWT_LEEWAY_MS || wall_ms < made - JWT_LEEWAY_MS)
        return "not valid yet: nbf or iat is in the future";
    return NULL;
}

bool jwt_claim_has(const json_t *claim, struct mcpx_slice name, bool *has)
{
    bool lists = json_is_array(claim);
    size_t count = lists ? json_array_size(claim) : claim != NULL;

    *has = !name.text;
    for (size_t i = 0; i < count; i++) {
        const json_t *one = lists ? json_array_get(claim, i) : claim;
        struct mcpx_slice text = {json_string_value(one), json_string_length(one)};

        if (!text.text)
            return false;
        *has = *has || mcpx_slice_equal(text, name);
    }
    return true;
}

/* Checks exp, nbf, iat, and the expected iss and aud. NULL when they hold. */
static const char *claims_fault(const struct jwt_ring *ring, const json_t *claims,
                                struct mcpx_now now)
{
    const json_t *iss = json_object_get(claims, "iss");
    const char *issuer = ring->issuer && *ring->issuer ? ring->issuer : NULL;
    const char *audience = ring->audience && *ring->audience ? ring->audience : NULL;
    bool fits;

    if (!is_text_or_absent(iss) ||
        (issuer && (!iss || strcmp(json_string_value(iss), issuer) != 0)))
        return "its iss is not auth.jwt.issuer";
    if (!jwt_claim_has(json_object_get(claims, "aud"), mcpx_slice_of(audience), &fits) ||
        !fits)
        return "its aud is not auth.jwt.audience";
    return dates_fault(claims, now.wall_ms);
}

/*
 * ---- a signature verified on another thread. It has copies of its input, because meanwhile a
 * reload may change the keys, and the connection may end. Its result is only the signer's key. The
 * token is judged afterwards, with the keys active by then.
 */

static void add_key(struct jwt_signature *signature, const struct jwt_key *key)
{
    struct jwt_key *row = &signature->keys[signature->count];

    if (EVP_PKEY_up_ref(key->key) != 1)
        return;
    *row = *key;
    row->kid = NULL;
    signature->count++;
}

/* Has the key signed it? False while another thread has yet to verify that. */
static bool has_signed(const struct jwt_key *key, const struct jwt_parts *parts)
{
    struct mcpx_slice bytes = mcpx_text_view(&parts->signature);
    struct jwt_signature *known = parts->known;

    if (key->alg->family == JWT_HMAC || !known)
        return jwt_alg_verify(key->alg, key->key, parts->covered, bytes);
    if (known->state == JWT_SIGNATURE_UNKNOWN)
        add_key(known, key);
    return known->state == JWT_SIGNATURE_KNOWN &&
           memcmp(key->digest, known->signer, sizeof key->digest) == 0 &&
           mcpx_slice_equal(mcpx_text_view(&known->covered), parts->covered) &&
           mcpx_slice_equal(mcpx_text_view(&known->bytes), bytes);
}

/* Keys were added: requests the verification. */
static enum mcpx_err want(const struct jwt_parts *parts)
{
    struct jwt_signature *signature = parts->known;

    mcpx_text_slice(&signature->covered, parts->covered);
    mcpx_text_slice(&signature->bytes, mcpx_text_view(&parts->signature));
    signature->state = JWT_SIGNATURE_WANTED;
    if (!signature->covered.failed && !signature->bytes.failed)
        return MCPX_EOPENING;
    jwt_signature_fini(signature);
    return MCPX_ENOMEM;
}

void jwt_signature_verify(struct jwt_signature *signature)
{
    struct mcpx_slice covered = mcpx_text_view(&signature->covered);
    struct mcpx_slice bytes = mcpx_text_view(&signature->bytes);

    for (size_t i = 0; i < signature->count; i++) {
        const struct jwt_key *key = &signature->keys[i];

        if (!jwt_alg_verify(key->alg, key->key, covered, bytes))
            continue;
        memcpy(signature->signer, key->digest, sizeof signature->signer);
        break;
    }
    signature->state = JWT_SIGNATURE_KNOWN;
}

void jwt_signature_fini(struct jwt_signature *signature)
{
    for (size_t i = 0; i < signature->count; i++)
        EVP_PKEY_free(signature->keys[i].key);
    mcpx_text_fini(&signature->covered);
    mcpx_text_fini(&signature->bytes);
    *signature = (struct jwt_signature){.count = 0};
}

/* ---- the signer ---- */

struct search {
    const struct jwt_parts *parts;
    bool named;   /* a key has the token's kid, or one of the two has none */
    bool fits;    /* one of them is for the token's algorithm */
    size_t tries; /* public keys tried */
};

static bool names(const struct jwt_key *key, const char *kid)
{
    return !kid || !*key->kid || strcmp(key->kid, kid) == 0;
}

static const struct jwt_key *find_key(const struct jwt_keys *keys, struct search *search)
{
    const struct jwt_parts *parts = search->parts;

    for (size_t i = 0; i < keys->count; i++) {
        const struct jwt_key *key = &keys->rows[i];

        if (!names(key, parts->kid))
            continue;
        search->named = true;
        if (key->alg != parts->alg)
            continue;
        search->fits = true;
        if (key->alg->family != JWT_HMAC && search->tries++ >= JWT_TRIES_MAX)
            return NULL;
        if (has_signed(key, parts))
            return key;
    }
    return NULL;
}

/* Returns NULL, with `why`, when no configured key has signed it. */
static const struct jwt_key *find_signer(const struct jwt_ring *ring,
                                         const struct jwt_parts *parts, const char **why)
{
    struct search search = {.parts = parts};
    const struct jwt_key *key = find_key(&ring->secrets, &search);

    for (size_t i = 0; !key && i < ring->file_count; i++)
        key = find_key(&ring->files[i]->keys, &search);
    if (!search.named)
        *why = "no configured key has its kid";
    else if (!search.fits)
        *why = "no configured key with its kid is for its alg";
    else
        *why = "no configured key has signed it";
    return key;
}

static bool lacks_exp(const struct jwt_key *key, const json_t *claims)
{
    return !key->exp_optional && !json_object_get(claims, "exp");
}

void jwt_proof_fini(struct jwt_proof *proof)
{
    json_decref(proof->claims);
    json_decref(proof->header);
    *proof = (struct jwt_proof){.claims = NULL};
}

/* Fills `proof` in part on failure. */
static enum mcpx_err prove(const struct jwt_ring *ring, const struct jwt_parts *parts,
                           struct mcpx_now now, struct jwt_proof *proof)
{
    const struct jwt_key *key = find_signer(ring, parts, &proof->why);
    enum mcpx_err err;

    if (!key && parts->known && parts->known->count &&
        parts->known->state != JWT_SIGNATURE_KNOWN)
        return want(parts);
    if (!key)
        return MCPX_ETOKEN;
    proof->why = "its claims are not a JSON object with each name once";
    err = parse_object(&parts->payload, &proof->claims);
    if (err)
        return err;
    proof->why = claims_fault(ring, proof->claims, now);
    if (!proof->why && lacks_exp(key, proof->claims))
        proof->why = "it has no exp, and its key requires one";
    if (proof->why)
        return MCPX_ETOKEN;
    memcpy(proof->key, key->digest, sizeof proof->key);
    proof->header = json_pack("{s:s, s:s*}", "alg", parts->alg->name, "kid", parts->kid);
    return proof->header ? MCPX_OK : MCPX_ENOMEM;
}

enum mcpx_err jwt_verify(const struct jwt_ring *ring, struct mcpx_slice token,
                         struct jwt_signature *signature, struct mcpx_now now,
                         struct jwt_proof *proof)
{
    MX_SCOPED(parts_fini) struct jwt_parts parts = {.known = signature};
    enum mcpx_err err = MCPX_ETOKEN;
    const char *why = NULL;

    proof->why = "it is longer than 8192 bytes";
    if (token.len <= JWT_BYTES_MAX)
        err = parts_read(token, &parts, &proof->why);
    if (!err)
        err = prove(ring, &parts, now, proof);
    if (err == MCPX_ETOKEN)
        why = proof->why;
    if (err)
        jwt_proof_fini(proof);
    proof->why = why;
    return err;
}

/* The signer's key, if its kid and algorithm still fit; NULL when it is gone. */
static const struct jwt_key *find_proven(const struct jwt_keys *keys,
                                         const struct jwt_proof *proof)
{
    const char *alg = json_string_value(json_object_get(proof->header, "alg"));
    const char *kid = json_string_value(json_object_get(proof->header, "kid"));

    for (size_t i = 0; alg && i < keys->count; i++) {
        const struct jwt_key *key = &keys->rows[i];

        if (CRYPTO_memcmp(key->digest, proof->key, sizeof proof->key) == 0 &&
            strcmp(key->alg->name, alg) == 0 && names(key, kid) &&
            !lacks_exp(key, proof->claims))
            return key;
    }
    return NULL;
}

bool jwt_holds(const struct jwt_ring *ring, const struct jwt_proof *proof, struct mcpx_now now)
{
    const struct jwt_key *key = find_proven(&ring->secrets, proof);

    for (size_t i = 0; !key && i < ring->file_count; i++)
        key = find_proven(&ring->files[i]->keys, proof);
    return key && !claims_fault(ring, proof->claims, now);
}

enum mcpx_err jwt_sign(const struct jwt_ring *ring, const json_t *claims,
                       struct mcpx_text *token)
{
    const struct jwt_key *key = ring->secrets.rows;
    mx_scoped_text made = {0}, header = {0};
    unsigned char mac[EVP_MAX_MD_SIZE];
    size_t len = 0;
    char *text;

    if (ring->secrets.count == 0)
        return MCPX_ENOTFOUND;
    mx_format(&header, *key->kid ? "{\"alg\":%q,\"kid\":%q}" : "{\"alg\":%q%s}",
              key->alg->name, key->kid);
    text = json_dumps(claims, JSON_COMPACT);
    if (text && !header.failed) {
        mx_base64url_encode((const unsigned char *)header.text, header.len, &made);
        mcpx_text_puts(&made, ".");
        mx_base64url_encode((const unsigned char *)text, strlen(text), &made);
        len = jwt_alg_sign(key->alg, key->key, mcpx_text_view(&made), mac);
        mcpx_text_puts(&made, ".");
        mx_base64url_encode(mac, len, &made);
    }
    free(text);
    if (len == 0 || made.failed)
        return MCPX_ENOMEM;
    mcpx_text_slice(token, mcpx_text_view(&made));
    return token->failed ? MCPX_ENOMEM : MCPX_OK;
}
