/*
 * public_key.c - reads key files. A private key where a public one belongs is a key that lies where
 * others read it, so it is refused with the command that makes the public half, and not used.
 */
#include "router/policy/public_key.h"

#include "lib/core/format.h"
#include "lib/core/json_reason.h"
#include "lib/core/passphrase.h"
#include "router/policy/jwk.h"

#include <openssl/err.h>
#include <openssl/pem.h>

static enum mcpx_err refuse(struct mcpx_text *why, const char *sentence)
{
    mcpx_text_puts(why, sentence);
    return why->failed ? MCPX_ENOMEM : MCPX_ECONFIG;
}

/* Does the key fit, and if so, add it. The key is taken. */
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

/* How often `word` stands in the text, which ends with a NUL. */
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
               "-pubout\" "
               "prints its public half";
    if (strstr(text, "-----BEGIN CERTIFICATE-----"))
        return "found a certificate; \"openssl x509 -in FILE -noout -pubkey\" prints its "
               "public "
               "key";
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

static enum mcpx_err parse(struct mcpx_slice text, json_t **out, struct mcpx_text *why)
{
    json_error_t fault;

    *out = json_loadb(text.len ? text.text : "", text.len, JSON_REJECT_DUPLICATES, &fault);
    if (*out)
        return MCPX_OK;
    if (json_error_code(&fault) == json_error_out_of_memory)
        return MCPX_ENOMEM;
    mx_format(why, "line %s, column %s: %s", fault.line, fault.column,
              mx_json_reason(fault.text));
    return MCPX_ECONFIG;
}

static enum mcpx_err read_one(struct mcpx_slice text, const struct jwt_key *model,
                              struct jwt_keys *out, struct mcpx_text *why)
{
    struct jwt_key row = *model;
    const char *reason = NULL;
    struct jwk jwk = {0};
    json_t *json = NULL;
    enum mcpx_err err = parse(text, &json, why);

    if (err)
        return err;
    if (json_object_get(json, "keys"))
        err = refuse(why, "found a set of keys, which belongs in auth.jwt.jwks_file");
    else
        err = jwk_read(json, &jwk, &reason);
    if (reason && (err == MCPX_ECONFIG || err == MCPX_ENOTFOUND))
        err = refuse(why, reason);
    if (!err) {
        row.key = jwk.key;
        if (json_object_get(json, "alg") && jwk.alg != model->alg) {
            EVP_PKEY_free(jwk.key);
            mx_format(why, "found a key for %s, expected one for %s", jwk.alg->name,
                      model->alg->name);
            err = MCPX_ECONFIG;
        } else {
            err = add(&row, out, why);
        }
    }
    json_decref(json);
    return err;
}

static enum mcpx_err add_of_set(const struct jwk *jwk, struct jwt_keys *out,
                                const char **reason)
{
    struct jwt_key row = {.kid = (char *)jwk->kid, .alg = jwk->alg, .key = jwk->key};

    if (!jwt_keys_have(out, jwk->kid, jwk->alg))
        return jwt_keys_add(out, &row);
    EVP_PKEY_free(jwk->key);
    *reason = "an earlier key has the same \"kid\" and algorithm";
    return MCPX_ECONFIG;
}

static enum mcpx_err read_set(const json_t *keys, struct jwt_keys *out, size_t *passed_over,
                              struct mcpx_text *why)
{
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *reason = NULL;
        struct jwk jwk;
        enum mcpx_err err = jwk_read(json_array_get(keys, i), &jwk, &reason);

        *passed_over += err == MCPX_ENOTFOUND;
        if (!err)
            err = add_of_set(&jwk, out, &reason);
        if (err == MCPX_ECONFIG)
            mx_format(why, "keys[%s]: %s", i, reason);
        if (err && err != MCPX_ENOTFOUND)
            return err;
    }
    return out->count > 0 ? MCPX_OK
                          : refuse(why, "found no key that a token can be verified with");
}

enum mcpx_err jwks_read(struct mcpx_slice text, struct jwt_keys *out, size_t *passed_over,
                        struct mcpx_text *why)
{
    struct jwt_keys made = {0};
    json_t *json = NULL, *keys;
    enum mcpx_err err = MCPX_OK;

    *passed_over = 0;
    if (text.len > KEY_FILE_BYTES)
        return refuse(why, "found more than 262144 bytes");
    err = parse(text, &json, why);
    keys = json_object_get(json, "keys");
    if (!err && !json_is_array(keys))
        err = refuse(why, "expected {\"keys\": [...]}, a JSON Web Key Set");
    else if (!err && json_array_size(keys) > JWKS_KEYS_MAX)
        err = refuse(why, "found more than 64 keys");
    else if (!err)
        err = read_set(keys, &made, passed_over, why);
    json_decref(json);
    if (err)
        jwt_keys_fini(&made);
    else
        *out = made;
    return err;
}

enum mcpx_err public_keys_read(struct mcpx_slice text, const struct jwt_key *model,
                               struct jwt_keys *out, struct mcpx_text *why)
{
    struct mcpx_text copy = {0}; /* ends with a NUL */
    struct jwt_keys made = {0};
    enum mcpx_err err = MCPX_OK;
    const char *fault;

    if (text.len > KEY_FILE_BYTES)
        return refuse(why, "found more than 262144 bytes");
    mcpx_text_add(&copy, text.text, text.len);
    if (copy.failed || !mcpx_text_reserve(&copy, 0)) {
        err = MCPX_ENOMEM;
    } else if (text.len > 0 && copy.text[strspn(copy.text, " \t\r\n")] == '{') {
        err = read_one(text, model, &made, why);
    } else {
        fault = not_public(text.len ? copy.text : "");
        err = fault ? refuse(why, fault) : read_pem(copy.text, model, &made, why);
    }
    mcpx_text_fini(&copy);
    if (err)
        jwt_keys_fini(&made);
    else
        *out = made;
    return err;
}
