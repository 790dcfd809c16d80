/*
 * config_keys.c - the keys of tokens: from `secret`, from `keys`, from a key set, or random in
 * development mode. Each key gets its algorithm here, before any token is read. A fault of a file
 * at its first reading is a fault of the configuration; at a later reading the keys stay as they
 * were.
 */
#include "lib/base/scoped.h"
#include "lib/json/json_write.h"
#include "router/policy/config/settings.h"
#include "router/policy/identity/tokens_make.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

enum { SECRET_MIN = 16, SECRET_MAX = 4096, DEV_SECRET = 32 };

/* A key before it is added to the ring. */
struct key_draft {
    /* `source`, `pointer`: for lines about it. */
    const char *source;
    const char *pointer;
    /* `kid`, `alg`: NULL for those of a key set. */
    const char *kid;
    const char *alg;
    /* Its length is known to be in range, or was reported with the file's values. */
    bool was_checked;
    bool exp_optional;       /* it may sign tokens that never end */
    struct mcpx_text secret; /* owned, wiped in the end */
};

static void warn_endless(struct loading *loading, const struct key_draft *draft)
{
    if (draft->exp_optional)
        line_write(loading, LINE_WARNING, draft->source, draft->pointer,
                   "tokens of this key need no \"exp\"; those without are good for ever");
}

static void read_first(struct loading *loading, const struct key_draft *draft,
                       struct key_file *file, struct tokens *tokens)
{
    struct key_reading reading;

    key_file_read(file, &reading);
    if (reading.err == MCPX_ENOMEM || reading.why.failed)
        loading->no_memory = true;
    else if (reading.err)
        mx_format(line_begin(loading, LINE_ERROR, draft->source, draft->pointer),
                  "the file %s: %s\n", file->path, &reading.why);
    else if (mx_file_is_anybodys(file->path))
        line_write(loading, LINE_WARNING, draft->source, draft->pointer,
                   "everybody on this machine may change the keys, and so come in as "
                   "anybody; chmod o-w mends that");
    (void)key_file_take(file, &reading);
    key_reading_fini(&reading);
    if (jwt_ring_add_file(tokens_ring(tokens), file))
        loading->no_memory = true;
}

/* Adds the public keys of a file, after reading it; `path` and `beside` as in mx_path_resolve. */
static void add_public(struct loading *loading, const struct key_draft *draft,
                       const char *path, const char *beside, struct tokens *tokens)
{
    const char *setting = *draft->pointer ? draft->pointer : "/auth/jwt/jwks_file";
    struct jwt_key model = {.kid = (char *)draft->kid, .exp_optional = draft->exp_optional};
    mx_scoped_text resolved = {0};
    struct key_file *file = NULL;

    warn_endless(loading, draft);
    if (draft->alg)
        model.alg = jwt_alg_find(draft->alg);
    mx_path_resolve(path, beside, &resolved);
    if (!resolved.failed)
        file = key_file_new(resolved.text, setting, draft->alg ? &model : NULL);
    if (file)
        read_first(loading, draft, file, tokens);
    else
        loading->no_memory = true;
    key_file_unref(file);
}

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
        mx_format(line_begin(loading, LINE_ERROR, draft->source, draft->pointer),
                  "found a secret of %s bytes, expected 16..4096\n", secret.len);
        return;
    }
    if (secret.len < jwt_alg_find(draft->alg)->bytes) { /* RFC 7518 section 3.2 */
        mx_format(line_begin(loading, LINE_WARNING, draft->source, draft->pointer),
                  "a secret for %s should have at least %s bytes\n", draft->alg,
                  jwt_alg_find(draft->alg)->bytes);
    }
    warn_endless(loading, draft);
    if (jwt_ring_add(tokens_ring(tokens), draft->kid, draft->alg, secret, draft->exp_optional))
        loading->no_memory = true;
}

/*
 * Appends the content of a secret file, without one newline at its end, and without blanks and CR
 * before that, which editors and shells leave there. Returns false after reporting a fault.
 */
static bool read_secret(struct loading *loading, struct key_draft *draft, const char *path,
                        const char *beside)
{
    mx_scoped_text resolved = {0};
    struct mcpx_text *secret = &draft->secret;
    const char *why = NULL;
    size_t len;

    mx_path_resolve(path, beside, &resolved);
    if (resolved.failed || !mcpx_text_reserve(secret, (size_t)2 * SECRET_MAX)) {
        loading->no_memory =
            true; /* reserved at once, so that growing leaves no copy behind */
        return false;
    }
    why = mx_file_read(resolved.text, SECRET_MAX + 1, secret);
    if (secret->len > 0 && secret->text[secret->len - 1] == '\n')
        secret->len--;
    for (len = secret->len; len > 0 && strchr(" \t\r\n", secret->text[len - 1]);)
        len--;
    if (!why && len < secret->len)
        mx_format(line_begin(loading, LINE_WARNING, draft->source, draft->pointer),
                  "%s bytes behind the secret are left out: blanks, CR or empty lines\n",
                  secret->len - len);
    secret->len = len;
    if (why) {
        mx_format(line_begin(loading, LINE_ERROR, draft->source, draft->pointer),
                  "the file %s cannot be read: %s\n", resolved.text, why);
    } else if (mx_file_is_public(resolved.text)) {
        line_write(loading, LINE_WARNING, draft->source, draft->pointer,
                   "everybody on this machine may read the secret; chmod o-r mends that");
    }
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
    draft.source = loading->sources->file;
    draft.pointer = use_file ? "/auth/jwt/secret_file" : "/auth/jwt/secret";
    if (environment) {
        draft.source = use_file ? "MCPX_AUTH_JWT_SECRET_FILE" : "MCPX_AUTH_JWT_SECRET";
        draft.pointer = "";
    }
    if (has_text && has_file && text == file) {
        line_write(loading, LINE_ERROR, draft.source, draft.pointer,
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
    const struct config *before = loading->sources->before;
    struct key_draft draft = {.source = "--dev", .pointer = "", .alg = "HS256", .kid = ""};
    unsigned char random[DEV_SECRET];
    struct chance chance = loading->sources->chance;

    if (before) {
        loading->no_memory |=
            jwt_ring_share(tokens_ring(tokens), tokens_ring(before->tokens)) == MCPX_ENOMEM;
        return;
    }
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

/* Is the key where its algorithm wants it? Reports what is not. */
static bool check_place(struct loading *loading, const json_t *key, const struct jwt_alg *alg)
{
    const char *text = json_string_value(json_object_get(key, "secret"));
    const char *path = json_string_value(json_object_get(key, "secret_file"));
    const char *public_key = json_string_value(json_object_get(key, "public_key_file"));
    const char *fault = NULL;

    if (public_key && (text || path))
        fault = "found a public key and a secret, expected one of them";
    else if (public_key && alg && alg->family == JWT_HMAC)
        fault =
            "found \"public_key_file\" with an algorithm for secrets: who knows the public "
            "key could sign; expected one such as \"RS256\", \"ES256\", \"EdDSA\"";
    else if (!public_key && alg && alg->family != JWT_HMAC)
        fault = "an algorithm for public keys needs \"public_key_file\"";
    else if (text && path)
        fault = "found both \"secret\" and \"secret_file\", expected one of them";
    else if (!public_key && !text && !path)
        fault = "found neither \"secret\" nor \"secret_file\", expected one of them";
    if (fault)
        line_here(loading, LINE_ERROR, fault);
    return !fault;
}

static void add_secret(struct loading *loading, const json_t *key, struct key_draft *draft,
                       struct tokens *tokens)
{
    const char *text = json_string_value(json_object_get(key, "secret"));
    const char *path = json_string_value(json_object_get(key, "secret_file"));

    draft->was_checked = text != NULL;
    if (text)
        mcpx_text_puts(&draft->secret, text);
    if (text || read_secret(loading, draft, path, loading->sources->file))
        add_draft(loading, draft, tokens);
    wipe(&draft->secret);
}

static void add_listed(struct loading *loading, const json_t *keys, size_t index,
                       struct tokens *tokens)
{
    const json_t *key = json_array_get(keys, index);
    const char *exp = json_string_value(json_object_get(key, "exp"));
    const char *public_key = json_string_value(json_object_get(key, "public_key_file"));
    struct key_draft draft = {.source = loading->sources->file};
    const struct jwt_alg *alg;
    bool is_placed;

    pointer_set(loading, "auth", "jwt");
    pointer_push(loading, "keys");
    pointer_push_index(loading, index);
    draft.pointer = pointer_text(loading);
    draft.kid = json_string_value(json_object_get(key, "kid"));
    draft.alg = json_string_value(json_object_get(key, "alg"));
    draft.exp_optional = exp && strcmp(exp, "optional") == 0;
    alg = draft.alg ? jwt_alg_find(draft.alg) : NULL;
    if (!draft.alg)
        line_here(loading, LINE_ERROR,
                  "\"alg\" is missing, expected one such as \"HS256\", \"RS256\", "
                  "\"ES256\", \"EdDSA\"");
    is_placed = check_place(loading, key, alg);
    if (kid_is_taken(keys, index))
        line_here(loading, LINE_ERROR, "an earlier key has the same \"kid\"");
    if (!alg || !is_placed)
        return;
    if (public_key)
        add_public(loading, &draft, public_key, loading->sources->file, tokens);
    else
        add_secret(loading, key, &draft, tokens);
}

static void add_set(struct loading *loading, struct tokens *tokens)
{
    const struct settings *settings = &loading->settings;
    const char *pointer = "/auth/jwt/jwks_file", *file = loading->sources->file;
    bool environment = settings_source(settings, pointer) == FROM_ENVIRONMENT;
    const struct key_draft draft = {.source = environment ? "MCPX_AUTH_JWT_JWKS_FILE" : file,
                                    .pointer = environment ? "" : pointer};

    if (*settings->jwks_file)
        add_public(loading, &draft, settings->jwks_file, environment ? NULL : file, tokens);
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
    add_set(loading, tokens);
    if (jwt_ring_expect(tokens_ring(tokens), settings->issuer, settings->audience))
        loading->no_memory = true;
}
