/*
 * jwt_check.c - all checks of a token that need no key: its outer form and header before the
 * signature is verified, its dates, issuer and audience after that. Of the header only alg, kid,
 * typ, crit and b64 are looked at: a key or an address that a token brings along (jwk, jku, x5c,
 * x5u) counts for nothing.
 */
#include "lib/base/digits.h"
#include "router/policy/identity/jwt.h"

#include <strings.h>

/* 9999-12-31T23:59:59Z; later dates count as this one. */
static const int64_t date_max = 253402300799;

/* Cuts the part before the next dot off; the last part is what is left. */
static struct mcpx_slice next_part(struct mcpx_slice *rest)
{
    const char *dot = rest->len ? memchr(rest->text, '.', rest->len) : NULL;
    struct mcpx_slice part = {rest->text, dot ? (size_t)(dot - rest->text) : rest->len};
    size_t used = part.len + (dot != NULL);

    *rest = (struct mcpx_slice){rest->text + used, rest->len - used};
    return part;
}

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
 * RFC 8725 section 3.11: what was signed for another purpose, such as a logout token, is none of
 * ours. "application/" may stand before it (RFC 7515 section 4.1.9).
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

/* NULL when the header is of a kind that this router understands completely. */
static const char *read_header(struct jwt_parts *parts)
{
    const json_t *kid = json_object_get(parts->header, "kid");
    const char *alg = json_string_value(json_object_get(parts->header, "alg"));

    if (!is_text_or_absent(kid))
        return "the kid in its header is no string";
    if (!is_access_token(json_object_get(parts->header, "typ")))
        return "the typ in its header is neither JWT nor at+jwt";
    /*
     * RFC 7515 section 4.1.11: a token with a critical header that we do not know is refused.
     */
    if (json_object_get(parts->header, "crit") || json_object_get(parts->header, "b64"))
        return "its header has crit or b64";
    parts->kid = json_string_value(kid);
    parts->alg = alg ? jwt_alg_find(alg) : NULL;
    return parts->alg ? NULL : "the alg in its header is none that is known";
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

enum mcpx_err jwt_parts_read(struct mcpx_slice token, struct jwt_parts *parts,
                             const char **why)
{
    struct mcpx_slice rest = token;
    struct mcpx_slice header = next_part(&rest);
    struct mcpx_slice payload = next_part(&rest);
    struct mcpx_text text = {0};
    enum mcpx_err err;

    *why = "it is not three parts of base64url";
    /* A fourth part would leave a dot in the signature, which is not base64url. */
    err = decode_part(rest, &parts->signature);
    if (!err)
        err = decode_part(payload, &parts->payload);
    if (!err)
        err = decode_part(header, &text);
    if (!err) {
        *why = "its header is no JSON object in which every name stands once";
        err = jwt_parse(mcpx_text_view(&text), &parts->header);
    }
    if (!err) {
        *why = read_header(parts);
        parts->covered = (struct mcpx_slice){token.text, header.len + 1 + payload.len};
        err = *why ? MCPX_ETOKEN : MCPX_OK;
    }
    mcpx_text_fini(&text);
    return err;
}

void jwt_parts_fini(struct jwt_parts *parts)
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
        return "its exp, nbf or iat is no number";
    if (wall_ms >= end + JWT_LEEWAY_MS)
        return "expired";
    if (wall_ms < begin - JWT_LEEWAY_MS || wall_ms < made - JWT_LEEWAY_MS)
        return "not valid yet: nbf or iat is in the future";
    return NULL;
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

const char *jwt_claims_fault(const json_t *claims, const char *issuer, const char *audience,
                             struct mcpx_now now)
{
    const json_t *iss = json_object_get(claims, "iss");

    if (!is_text_or_absent(iss) ||
        (*issuer && (!iss || strcmp(json_string_value(iss), issuer) != 0)))
        return "its iss is not auth.jwt.issuer";
    if (!audience_holds(json_object_get(claims, "aud"), audience))
        return "its aud is not auth.jwt.audience";
    return dates_fault(claims, now.wall_ms);
}
