/*
 * jwt_check.c - all checks of a token that need no key: its outer form and header before the
 * signature is verified, its dates, issuer and audience after that. It also lists the
 * algorithms. cjose does not read the header, because it would take the algorithm from it; the
 * header is read strictly here.
 */
#include "router/policy/base64url.h"
#include "router/policy/jwt_ring.h"

/* 9999-12-31T23:59:59Z; later dates count as this one. */
static const int64_t date_max = 253402300799;

static const struct {
    const char *name;
    size_t bytes;
} algs[] = {{"HS256", 32}, {"HS384", 48}, {"HS512", 64}};

enum { ALG_COUNT = sizeof algs / sizeof *algs };

/* ALG_COUNT when it is not known. */
static size_t alg_index(const char *alg)
{
    size_t i = 0;

    while (i < ALG_COUNT && strcmp(algs[i].name, alg) != 0)
        i++;
    return i;
}

const char *jwt_alg_name(const char *alg)
{
    size_t index = alg_index(alg);

    return index < ALG_COUNT ? algs[index].name : NULL;
}

size_t jwt_alg_bytes(const char *alg)
{
    size_t index = alg_index(alg);

    return index < ALG_COUNT ? algs[index].bytes : 0;
}

/* Cuts the part before the next dot off; the last part is what is left. */
static struct mcpx_slice next_part(struct mcpx_slice *rest)
{
    const char *dot = rest->len ? memchr(rest->text, '.', rest->len) : NULL;
    struct mcpx_slice part = {rest->text, dot ? (size_t)(dot - rest->text) : rest->len};
    size_t used = part.len + (dot != NULL);

    *rest = (struct mcpx_slice){rest->text + used, rest->len - used};
    return part;
}

/* `len`, when not NULL, is filled with the bytes the part stands for. */
static enum mcpx_err decode_part(struct mcpx_slice part, struct mcpx_text *out, size_t *len)
{
    bool valid;

    mcpx_text_reset(out);
    valid = part.len > 0 && base64url_decode(part, out);
    if (out->failed)
        return MCPX_ENOMEM;
    if (valid && len)
        *len = out->len;
    return valid ? MCPX_OK : MCPX_ETOKEN;
}

static bool is_text_or_absent(const json_t *value)
{
    return !value || json_is_string(value);
}

/* True when the header is of a kind this router understands completely. */
static bool read_header(const json_t *json, struct jwt_header *out)
{
    const json_t *kid = json_object_get(json, "kid");

    if (!is_text_or_absent(kid) || !is_text_or_absent(json_object_get(json, "typ")))
        return false;
    /*
     * RFC 7515 section 4.1.11: a token with a critical header that we do not know is refused.
     */
    if (json_object_get(json, "crit") || json_object_get(json, "b64"))
        return false;
    out->alg = json_string_value(json_object_get(json, "alg"));
    out->kid = json_string_value(kid);
    return out->alg && jwt_alg_name(out->alg);
}

enum mcpx_err jwt_parse(struct mcpx_slice text, json_t **out)
{
    json_error_t fault;
    json_t *json = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, &fault);

    if (json_is_object(json)) {
        *out = json;
        return MCPX_OK;
    }
    if (!json && json_error_code(&fault) == json_error_out_of_memory)
        return MCPX_ENOMEM;
    json_decref(json);
    return MCPX_ETOKEN;
}

enum mcpx_err jwt_header_read(struct mcpx_slice token, struct jwt_header *out)
{
    struct mcpx_slice rest = token;
    struct mcpx_slice header = next_part(&rest);
    struct mcpx_slice payload = next_part(&rest);
    struct mcpx_text text = {0};
    size_t signature = 0;
    json_t *json = NULL;
    enum mcpx_err err;

    /* A fourth part would leave a dot in the signature, which is not base64url. */
    err = decode_part(rest, &text, &signature);
    if (!err)
        err = decode_part(payload, &text, NULL);
    if (!err)
        err = decode_part(header, &text, NULL);
    if (!err) {
        err = jwt_parse(mcpx_text_view(&text), &json);
        if (!err && (!read_header(json, out) || signature != jwt_alg_bytes(out->alg)))
            err = MCPX_ETOKEN;
    }
    if (err)
        json_decref(json);
    else
        out->json = json;
    mcpx_text_fini(&text);
    return err;
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

static bool dates_hold(const json_t *claims, int64_t wall_ms)
{
    const json_t *exp = json_object_get(claims, "exp");
    const json_t *nbf = json_object_get(claims, "nbf");
    const json_t *iat = json_object_get(claims, "iat");
    int64_t date;

    if (exp && (!jwt_date(exp, &date) || wall_ms >= date + JWT_LEEWAY_MS))
        return false;
    if (nbf && (!jwt_date(nbf, &date) || wall_ms < date - JWT_LEEWAY_MS))
        return false;
    return !iat || (jwt_date(iat, &date) && wall_ms >= date - JWT_LEEWAY_MS);
}

/* `aud` is a string or an array of strings: RFC 7519 section 4.1.3. */
static bool audience_holds(const json_t *aud, const char *expected)
{
    bool found = *expected == '\0';

    if (json_is_string(aud))
        return found || strcmp(json_string_value(aud), expected) == 0;
    if (!aud)
        return found;
    if (!json_is_array(aud))
        return false;
    for (size_t i = 0; i < json_array_size(aud); i++) {
        const char *one = json_string_value(json_array_get(aud, i));

        if (!one)
            return false;
        found = found || strcmp(one, expected) == 0;
    }
    return found;
}

bool jwt_claims_hold(const json_t *claims, const char *issuer, const char *audience,
                     struct mcpx_now now)
{
    const json_t *iss = json_object_get(claims, "iss");

    if (!is_text_or_absent(iss))
        return false;
    if (*issuer && (!iss || strcmp(json_string_value(iss), issuer) != 0))
        return false;
    return audience_holds(json_object_get(claims, "aud"), audience) &&
           dates_hold(claims, now.wall_ms);
}
