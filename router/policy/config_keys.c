/*
 * config_keys.c - the keys that sign tokens: from `secret`, from `keys`, or random in dev mode.
 * Each key gets its algorithm here, before any token is read. Public keys (RS, ES, PS, EdDSA)
 * and a JWKS file would be added beside add_listed.
 */
#include "lib/core/format.h"
#include "router/policy/loading.h"
#include "router/policy/tokens_make.h"

#include <openssl/crypto.h>
#include <stdlib.h>

enum { SECRET_MIN = 16, SECRET_MAX = 4096, DEV_SECRET = 32 };

/*
 * A key before it is added to the ring.
 *
 * source, pointer   for lines about it
 * was_checked       its length is known to be in range, or was reported with the file's values
 * exp_optional      it may sign tokens that never end
 * secret            owned, wiped in the end
 */
struct key_draft {
    const char *source;
    const char *pointer;
    const char *kid;
    const char *alg;
    bool was_checked;
    bool exp_optional;
    struct mcpx_text secret;
};

static void wipe(struct mcpx_text *secret)
{
    if (secret->text)
        OPENSSL_cleanse(secret->text, secret->size);
    mcpx_text_fini(secret);
}

static void add_draft(struct loading *loading, struct key_draft *draft, struct tokens *tokens)
{
    struct mcpx_slice secret = mcpx_text_view(&draft->secret);

    if (draft->secret.failed) {
        loading->no_memory = true;
        return;
    }
    if (draft->was_checked && (secret.len < SECRET_MIN || secret.len > SECRET_MAX))
        return;
    if (secret.len < SECRET_MIN || secret.len > SECRET_MAX) {
        mx_format(error_begin(loading, draft->source, draft->pointer),
                  "found a secret of %s bytes, expected 16..4096\n", secret.len);
        return;
    }
    if (secret.len < jwt_alg_bytes(draft->alg)) {
        mx_format(warning_begin(loading, draft->source, draft->pointer),
                  "a secret for %s should have at least %s bytes\n", draft->alg,
                  jwt_alg_bytes(draft->alg));
    }
    if (draft->exp_optional)
        warning_line(loading, draft->source, draft->pointer,
                     "tokens of this key need no \"exp\"; those without are good for ever");
    if (jwt_ring_add(tokens_ring(tokens), draft->kid, draft->alg, secret, draft->exp_optional))
        loading->no_memory = true;
}

/*
 * Appends the content of a secret file, without one newline at its end. Returns false after
 * reporting a fault.
 */
static bool read_secret(struct loading *loading, struct key_draft *draft, const char *path,
                        const char *beside)
{
    struct mcpx_text resolved = {0};
    struct mcpx_text *secret = &draft->secret;
    const char *why = NULL;

    path_resolve(path, beside, &resolved);
    if (resolved.failed || !mcpx_text_reserve(secret, (size_t)2 * SECRET_MAX)) {
        loading->no_memory =
            true; /* reserved at once, so that growing leaves no copy behind */
        mcpx_text_fini(&resolved);
        return false;
    }
    why = file_read(resolved.text, SECRET_MAX + 1, secret);
    if (secret->len > 0 && secret->text[secret->len - 1] == '\n')
        secret->len--;
    if (why) {
        mx_format(error_begin(loading, draft->source, draft->pointer),
                  "the file %s cannot be read: %s\n", resolved.text, why);
    } else if (file_is_public(resolved.text)) {
        warning_line(loading, draft->source, draft->pointer,
                     "everybody on this machine may read the secret; chmod o-r mends that");
    }
    mcpx_text_fini(&resolved);
    return !why;
}

/* `secret` or `secret_file` at the top of auth.jwt: whichever came from the later source. */
static void add_simple(struct loading *loading, struct tokens *tokens)
{
    const struct settings *settings = &loading->settings;
    enum setting_source text = settings_source(settings, "/auth/jwt/secret");
    enum setting_source file = settings_source(settings, "/auth/jwt/secret_file");
    bool has_text = *settings->secret != '\0';
    bool has_file = *settings->secret_file != '\0';
    bool use_file = has_file && (!has_text || file > text);
    bool environment = (use_file ? file : text) == FROM_ENVIRONMENT;
    struct key_draft draft = {
        .alg = "HS256", .kid = "", .exp_optional = settings->exp_optional};

    if (!has_text && !has_file)
        return;
    draft.source = environment ? "environment" : loading->sources->file;
    draft.pointer = use_file ? "/auth/jwt/secret_file" : "/auth/jwt/secret";
    if (environment) {
        draft.source = use_file ? "MCPX_AUTH_JWT_SECRET_FILE" : "MCPX_AUTH_JWT_SECRET";
        draft.pointer = "";
    }
    if (has_text && has_file && text == file) {
        error_line(loading, draft.source, draft.pointer,
                   "found both secret and secret_file, expected one of them");
        return;
    }
    if (!use_file)
        mcpx_text_puts(&draft.secret, settings->secret);
    if (!use_file || read_secret(loading, &draft, settings->secret_file,
                                 environment ? NULL : loading->sources->file))
        add_draft(loading, &draft, tokens);
    wipe(&draft.secret);
}

/* Dev mode signs with a random secret that nobody knows and that ends with the process. */
static void add_random(struct loading *loading, struct tokens *tokens)
{
    struct key_draft draft = {.source = "--dev", .pointer = "", .alg = "HS256", .kid = ""};
    unsigned char random[DEV_SECRET];
    struct chance chance = loading->sources->chance;

    chance.fill(chance.context, random, sizeof random);
    mcpx_text_add(&draft.secret, (const char *)random, sizeof random);
    OPENSSL_cleanse(random, sizeof random);
    add_draft(loading, &draft, tokens);
    wipe(&draft.secret);
}

/* True when an earlier key has the same kid: a token could then mean either. */
static bool kid_is_taken(const json_t *keys, size_t index)
{
    const char *kid = json_string_value(json_object_get(json_array_get(keys, index), "kid"));

    for (size_t i = 0; kid && i < index; i++) {
        const char *other = json_string_value(json_object_get(json_array_get(keys, i), "kid"));

        if (other && strcmp(other, kid) == 0)
            return true;
    }
    return false;
}

static void add_listed(struct loading *loading, const json_t *keys, size_t index,
                       struct tokens *tokens)
{
    const json_t *key = json_array_get(keys, index);
    const char *text = json_string_value(json_object_get(key, "secret"));
    const char *path = json_string_value(json_object_get(key, "secret_file"));
    const char *exp = json_string_value(json_object_get(key, "exp"));
    struct key_draft draft = {.source = loading->sources->file};

    pointer_set(loading, "auth", "jwt");
    pointer_push(loading, "keys");
    pointer_push_index(loading, index);
    draft.pointer = pointer_text(loading);
    draft.kid = json_string_value(json_object_get(key, "kid"));
    draft.alg = json_string_value(json_object_get(key, "alg"));
    draft.exp_optional = exp && strcmp(exp, "optional") == 0;
    if (!draft.alg)
        error_here(loading,
                   "\"alg\" is missing, expected one of \"HS256\", \"HS384\", \"HS512\"");
    if (!text == !path)
        error_here(loading,
                   text
                       ? "found both \"secret\" and \"secret_file\", expected one of them"
                       : "found neither \"secret\" nor \"secret_file\", expected one of them");
    if (kid_is_taken(keys, index))
        error_here(loading, "an earlier key has the same \"kid\"");
    if (draft.alg && jwt_alg_name(draft.alg) && !text != !path) {
        draft.was_checked = text != NULL;
        if (text)
            mcpx_text_puts(&draft.secret, text);
        if (text || read_secret(loading, &draft, path, loading->sources->file))
            add_draft(loading, &draft, tokens);
    }
    wipe(&draft.secret);
}

void load_keys(struct loading *loading, struct tokens *tokens)
{
    const json_t *keys = json_object_get(tree_at(loading, "auth", "jwt"), "keys");
    const struct settings *settings = &loading->settings;

    /*
     * The first key signs. Dev mode gives tokens to anybody, so it must not sign with a
     * configured key.
     */
    if (loading->sources->dev)
        add_random(loading, tokens);
    add_simple(loading, tokens);
    for (size_t i = 0; i < json_array_size(keys); i++) {
        if (json_is_object(json_array_get(keys, i)))
            add_listed(loading, keys, i, tokens);
    }
    if (jwt_ring_expect(tokens_ring(tokens), settings->issuer, settings->audience))
        loading->no_memory = true;
}
