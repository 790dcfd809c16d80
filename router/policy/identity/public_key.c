/*
 * public_key.c - reads key files. A private key in place of a public one may have been read by
 * others: it is refused, and the error shows the command that makes the public half. The purpose of
 * a JSON Web Key is checked first, so that keys for encryption are skipped unread; OpenSSL
 * assembles its numbers and points.
 */
#include "router/policy/identity/jwt.h"

#include "lib/base/digits.h"
#include "lib/base/scoped.h"
#include "lib/json/decisive.h"
#include "lib/json/json_write.h"
#include "lib/wire/pem.h"
#include <mcpx/error.h>

#include <jansson.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

/* ---- one JSON Web Key ---- */

/* Bytes of the longest number: RSA's modulus. */
enum { NUMBER_MAX = JWT_RSA_BITS_MAX / 8 };

static bool is(const json_t *value, const char *text)
{
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

/* Appends the bytes of a member in base64url; false when it is absent or something else. */
static bool read_bytes(const json_t *object, const char *name, struct mcpx_text *out)
{
    const json_t *value = json_object_get(object, name);
    struct mcpx_slice text = {json_string_value(value), json_string_length(value)};

    return text.len > 0 && text.len <= 2 * (size_t)NUMBER_MAX &&
           mx_base64url_decode(text, out);
}

static EVP_PKEY *assemble(const char *type, OSSL_PARAM *params)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;

    if (context && params && EVP_PKEY_fromdata_init(context) == 1 &&
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    return key;
}

static EVP_PKEY *make_rsa(const json_t *object)
{
    mx_scoped_text n = {0}, e = {0};
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    BIGNUM *modulus = NULL, *exponent = NULL;
    OSSL_PARAM *params = NULL;
    EVP_PKEY *key;

    if (build && read_bytes(object, "n", &n) && read_bytes(object, "e", &e)) {
        modulus = BN_bin2bn((const unsigned char *)n.text, (int)n.len, NULL);
        exponent = BN_bin2bn((const unsigned char *)e.text, (int)e.len, NULL);
    }
    if (modulus && exponent && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, modulus) &&
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, exponent))
        params = OSSL_PARAM_BLD_to_param(build);
    key = assemble("RSA", params);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(build);
    BN_free(modulus);
    BN_free(exponent);
    return key;
}

/* The coordinates have their full length: RFC 7518 section 6.2.1.2. */
static EVP_PKEY *make_ec(const json_t *object, const char *curve, size_t bytes)
{
    mx_scoped_text point = {0};

    mcpx_text_add(&point, "\x04", 1); /* not compressed */
    if (!read_bytes(object, "x", &point) || point.len != 1 + bytes ||
        !read_bytes(object, "y", &point) || point.len != 1 + 2 * bytes)
        return NULL;
    return assemble(
        "EC",
        (OSSL_PARAM[]){
            OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
            OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point.text, point.len),
            OSSL_PARAM_construct_end()});
}

static EVP_PKEY *make_ed25519(const json_t *object)
{
    mx_scoped_text x = {0};

    if (!read_bytes(object, "x", &x))
        return NULL;
    return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, (const unsigned char *)x.text,
                                       x.len);
}

/* Makes a key by its type and curve; `known` is false when these are unknown. */
static EVP_PKEY *make(const json_t *object, bool *known)
{
    static const struct {
        const char *curve;
        size_t bytes;
    } curves[] = {{"P-256", 32}, {"P-384", 48}, {"P-521", 66}};
    const json_t *type = json_object_get(object, "kty"),
                 *curve = json_object_get(object, "crv");

    *known = true;
    if (is(type, "RSA"))
        return make_rsa(object);
    for (size_t i = 0; is(type, "EC") && i < sizeof curves / sizeof *curves; i++)
        if (is(curve, curves[i].curve))
            return make_ec(object, curves[i].curve, curves[i].bytes);
    if (is(type, "OKP") && is(curve, "Ed25519"))
        return make_ed25519(object);
    *known = false;
    return NULL;
}

/* RFC 7517 sections 4.2 and 4.3. */
static bool is_to_verify(const json_t *object)
{
    const json_t *use = json_object_get(object, "use");
    const json_t *operations = json_object_get(object, "key_ops");
    bool found = !operations;

    for (size_t i = 0; i < json_array_size(operations); i++)
        found = found || is(json_array_get(operations, i), "verify");
    return found && (!use || is(use, "sig"));
}

static const char *forbidden(const json_t *object)
{
    static const char *const halves[] = {"d", "p", "q", "dp", "dq", "qi", "oth"};

    if (is(json_object_get(object, "kty"), "oct") || json_object_get(object, "k"))
        return "found a secret: each reader of the file could sign with it; expected public "
               "keys only";
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        if (json_object_get(object, halves[i]))
            return "found a private key; expected public keys only, without \"d\" and what "
                   "belongs to it";
    return NULL;
}

/* Reads kid and alg of the object; MCPX_ENOTFOUND for an unknown algorithm. */
static enum mcpx_err read_names(const json_t *object, struct jwt_key *out, const char **why)
{
    const json_t *kid = json_object_get(object, "kid"), *alg = json_object_get(object, "alg");

    out->kid = kid ? (char *)json_string_value(kid) : "";
    if (!out->kid || (kid && json_string_length(kid) == 0) ||
        json_string_length(kid) > KID_BYTES_MAX) {
        *why = "\"kid\" has to be a string of 1..256 bytes";
        return MCPX_ECONFIG;
    }
    if (alg && !json_is_string(alg)) {
        *why = "\"alg\" has to be a string";
        return MCPX_ECONFIG;
    }
    out->alg = alg ? jwt_alg_find(json_string_value(alg)) : NULL;
    *why = "its \"alg\" is not known";
    return alg && !out->alg ? MCPX_ENOTFOUND : MCPX_OK;
}

static enum mcpx_err read_key(const json_t *object, struct jwt_key *out, const char **why)
{
    bool known;

    out->key = make(object, &known);
    ERR_clear_error();
    if (!known) {
        *why = "its \"kty\" or \"crv\" is not known";
        return MCPX_ENOTFOUND;
    }
    *why = "found a key whose numbers are missing or wrong";
    if (!out->key)
        return MCPX_ECONFIG;
    if (!out->alg)
        out->alg = jwt_alg_implied(out->key);
    *why = out->alg ? jwt_alg_refuses(out->alg, out->key) : "found a key of no known sort";
    return *why ? MCPX_ECONFIG : MCPX_OK;
}

/*
 * Makes a public key of a JSON Web Key (RFC 7517 section 4, RFC 7518 section 6, RFC 8037).
 *
 * out   filled on MCPX_OK: `kid`, lent by the object, "" when it has none; `alg`, its own or that
 *       of its type; `key`, the caller's
 * why   filled with a static sentence on MCPX_ECONFIG and MCPX_ENOTFOUND
 *
 * Returns MCPX_OK; MCPX_ENOTFOUND for a key with another purpose or of an unknown sort, allowed in
 * a set; MCPX_ECONFIG for a forbidden or wrong key; MCPX_ENOMEM.
 */
static enum mcpx_err jwk_read(const json_t *object, struct jwt_key *out, const char **why)
{
    struct jwt_key made = {.kid = NULL};
    enum mcpx_err err;

    *why = json_is_object(object) ? forbidden(object) : "expected an object";
    if (*why)
        return MCPX_ECONFIG;
    *why = "it is not for verifying";
    if (!is_to_verify(object))
        return MCPX_ENOTFOUND;
    err = read_names(object, &made, why);
    if (!err)
        err = read_key(object, &made, why);
    if (err)
        EVP_PKEY_free(made.key);
    else
        *out = made;
    return err;
}

/* ---- texts ---- */

static enum mcpx_err refuse(struct mcpx_text *why, const char *sentence)
{
    mcpx_text_puts(why, sentence);
    return why->failed ? MCPX_ENOMEM : MCPX_ECONFIG;
}

/* Adds the key if it fits. The key is taken. */
static enum mcpx_err add(const struct jwt_key *row, struct jwt_keys *out,
                         struct mcpx_text *why)
{
    const char *found = jwt_alg_refuses(row->alg, row->key);

    if (!found)
        return jwt_keys_add(out, row);
    mx_format(why, "found %s; %s needs %s", found, row->alg->name, row->alg->key_name);
    EVP_PKEY_free(row->key);
    return why->failed ? MCPX_ENOMEM : MCPX_ECONFIG;
}

/* ---- PEM ---- */

/* Counts `word` in a text with a final NUL. */
static size_t count(const char *text, const char *word)
{
    size_t found = 0;

    while ((text = strstr(text, word)) != NULL) {
        found++;
        text += strlen(word);
    }
    return found;
}

static const char *not_public(const char *text)
{
    if (strstr(text, "PRIVATE KEY-----"))
        return "found a private key, which has no place here; \"openssl pkey -in FILE "
               "-pubout\" prints its public half";
    if (strstr(text, "-----BEGIN CERTIFICATE-----"))
        return "found a certificate; \"openssl x509 -in FILE -noout -pubkey\" prints its "
               "public key";
    if (!strstr(text, "-----BEGIN "))
        return "found neither PEM (-----BEGIN PUBLIC KEY-----) nor a JSON Web Key";
    return NULL;
}

static enum mcpx_err read_pem(const char *text, const struct jwt_key *model,
                              struct jwt_keys *out, struct mcpx_text *why)
{
    size_t wanted = count(text, "-----BEGIN ");
    struct jwt_key row = *model;
    enum mcpx_err err = MCPX_OK;
    BIO *bio;

    if (wanted > PEM_KEYS_MAX)
        return refuse(why, "found more than 4 keys");
    bio = BIO_new_mem_buf(text, -1);
    if (!bio)
        return MCPX_ENOMEM;
    while (!err && (row.key = PEM_read_bio_PUBKEY(bio, NULL, mx_no_passphrase, NULL)) != NULL)
        err = add(&row, out, why);
    if (!err && out->count != wanted)
        err = refuse(why, "found a damaged key, or something else than public keys");
    BIO_free(bio);
    ERR_clear_error();
    return err;
}

/* ---- JSON ---- */

static enum mcpx_err read_one(const json_t *json, const struct jwt_key *model,
                              struct jwt_keys *out, struct mcpx_text *why)
{
    struct jwt_key row = *model, jwk;
    const char *reason = NULL;
    enum mcpx_err err;

    if (json_object_get(json, "keys"))
        return refuse(why, "found a set of keys, which belongs in auth.jwt.jwks_file");
    err = jwk_read(json, &jwk, &reason);
    if (err)
        return err == MCPX_ENOMEM ? err : refuse(why, reason);
    row.key = jwk.key;
    if (!json_object_get(json, "alg") || jwk.alg == model->alg)
        return add(&row, out, why);
    EVP_PKEY_free(jwk.key);
    mx_format(why, "found a key for %s, expected one for %s", jwk.alg->name, model->alg->name);
    return MCPX_ECONFIG;
}

static bool has(const struct jwt_keys *keys, const struct jwt_key *row)
{
    for (size_t i = 0; i < keys->count; i++)
        if (keys->rows[i].alg == row->alg && strcmp(keys->rows[i].kid, row->kid) == 0)
            return true;
    return false;
}

static enum mcpx_err read_set(const json_t *json, struct jwt_keys *out, size_t *passed_over,
                              struct mcpx_text *why)
{
    const json_t *keys = json_object_get(json, "keys");

    if (!json_is_array(keys))
        return refuse(why, "expected {\"keys\": [...]}, a JSON Web Key Set");
    if (json_array_size(keys) > JWKS_KEYS_MAX)
        return refuse(why, "found more than 64 keys");
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *reason = NULL;
        struct jwt_key row;
        enum mcpx_err err = jwk_read(json_array_get(keys, i), &row, &reason);

        *passed_over += err == MCPX_ENOTFOUND;
        if (!err && has(out, &row)) {
            EVP_PKEY_free(row.key);
            reason = "an earlier key has the same \"kid\" and algorithm";
            err = MCPX_ECONFIG;
        }
        if (!err)
            err = jwt_keys_add(out, &row);
        if (err == MCPX_ECONFIG)
            mx_format(why, "keys[%s]: %s", i, reason);
        if (err && err != MCPX_ENOTFOUND)
            return err;
    }
    return out->count > 0 ? MCPX_OK
                          : refuse(why, "found no key that a token can be verified with");
}

static enum mcpx_err read_json(struct mcpx_slice text, const struct jwt_key *model,
                               struct jwt_keys *out, size_t *passed_over,
                               struct mcpx_text *why)
{
    json_error_t fault;
    json_auto_t *json = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, &fault);

    if (json)
        return model ? read_one(json, model, out, why) : read_set(json, out, passed_over, why);
    if (json_error_code(&fault) == json_error_out_of_memory)
        return MCPX_ENOMEM;
    mx_format(why, "line %s, column %s: %s", fault.line, fault.column,
              mx_json_reason(fault.text));
    return MCPX_ECONFIG;
}

enum mcpx_err public_keys_read(struct mcpx_slice text, const struct jwt_key *model,
                               struct jwt_keys *out, size_t *passed_over,
                               struct mcpx_text *why)
{
    mx_scoped_text copy = {0}; /* ends with a NUL */
    enum mcpx_err err;
    const char *fault;

    *passed_over = 0;
    if (text.len > KEY_FILE_BYTES)
        return refuse(why, "found more than 262144 bytes");
    mcpx_text_add(&copy, text.text, text.len);
    if (copy.failed) {
        err = MCPX_ENOMEM;
    } else if (!model || copy.text[strspn(copy.text, " \t\r\n")] == '{') {
        err = read_json(mcpx_text_view(&copy), model, out, passed_over, why);
    } else {
        fault = not_public(copy.text);
        err = fault ? refuse(why, fault) : read_pem(copy.text, model, out, why);
    }
    if (err)
        jwt_keys_fini(out);
    return err;
}
