/*
 * token_reason.c - what reads tokens has one answer for all that is wrong with them, and is asked
 * once more for the reason. A token whose time is over was good at its time: it is verified as if
 * it were then, so that the line names who bears it. The dates of one that nobody has signed are
 * never believed.
 */
#include "router/edge/token_reason.h"

#include "router/policy/base64url.h"
#include "router/policy/jwt.h"

static const char unknown[] = "neither a token of the configuration nor a JWT";

/* The claims of a token, whoever has written them; NULL when it has none. */
static json_t *read_claims(struct mcpx_slice bearer)
{
    const char *end = bearer.text + bearer.len;
    const char *first = bearer.len ? memchr(bearer.text, '.', bearer.len) : NULL;
    const char *last = first ? memchr(first + 1, '.', (size_t)(end - first - 1)) : NULL;
    struct mcpx_text text = {0};
    json_t *claims = NULL;

    if (!last || bearer.len > JWT_BYTES_MAX)
        return NULL;
    if (base64url_decode((struct mcpx_slice){first + 1, (size_t)(last - first - 1)}, &text) &&
        !text.failed)
        claims = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, NULL);
    mcpx_text_fini(&text);
    return claims;
}

/* A date among the claims; `missing` where there is none. */
static int64_t date_of(const json_t *claims, const char *name, int64_t missing)
{
    int64_t date = missing;

    (void)jwt_date(json_object_get(claims, name), &date);
    return date;
}

/* Do the dates, if they are true, forbid it now? `at_ms` is then an instant at which they hold. */
static bool dates_forbid(const json_t *claims, int64_t wall_ms, int64_t *at_ms)
{
    int64_t exp = date_of(claims, "exp", INT64_MAX);
    int64_t nbf = date_of(claims, "nbf", 0), iat = date_of(claims, "iat", 0);
    int64_t begin = nbf > iat ? nbf : iat;

    *at_ms = wall_ms >= exp ? exp - 1 : begin;
    return wall_ms >= exp || begin > wall_ms;
}

static void read_claimed(const json_t *claims, struct mcpx_text *out)
{
    const json_t *name = json_object_get(claims, "participantId");

    if (!name)
        name = json_object_get(claims, "sub");
    if (json_is_string(name))
        mcpx_text_add(out, json_string_value(name), json_string_length(name));
}

void token_reason_find(struct tokens *tokens, const struct claimant *claimant,
                       struct mcpx_now now, struct token_reason *out)
{
    const struct mcpx_slice any = {NULL, 0};
    json_t *claims = read_claims(claimant->bearer);

    out->reason = tokens_fault(tokens, claimant, now);
    if (!claims && out->reason)
        out->reason = unknown;
    if (!claims || !dates_forbid(claims, now.wall_ms, &now.wall_ms) ||
        tokens_ask(tokens, claimant, any, now, &out->grant))
        read_claimed(claims, &out->claimed);
    json_decref(claims);
}

void token_reason_fini(struct token_reason *reason)
{
    grant_unref(reason->grant);
    mcpx_text_fini(&reason->claimed);
}
