/*
 * config_keys.c - the keys of tokens: from `secret`, from `keys`, from a key set, or random in
 * development mode. Each key gets its algorithm here, before any token is read. An error of a file
 * at its first reading is an error of the configuration; at a later reading the keys stay as they
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
    const char *source, *pointer; /* for lines about it */
    const char *beside;   /* its paths are relative to this file; NULL: to our folder */
    struct jwt_key model; /* its kid and algorithm; none of both for a key set */
};

static struct key_draft draft_of(const struct loading *loading, const char *setting,
                                 const char *variable)
{
    const char *file = loading->sources->file;

    if (settings_source(&loading->settings, setting) == FROM_ENVIRONMENT)
        return (struct key_draft){.source = variable, .pointer = ""};
    return (struct key_draft){.source = file, .pointer = setting, .beside = file};
}

static struct mcpx_text *begin(struct loading *loading, enum report_sort sort,
                               const struct key_draft *draft)
{
    return report_begin(loading, sort, draft->source, draft->pointer);
}

static void warn(struct loading *loading, const struct key_draft *draft, bool is_so,
                 const char *sentence)
{
    if (is_so)
        mx_format(begin(loading, REPORT_WARNING, draft), "%s\n", sentence);
}

static void warn_endless(struct loading *loading, const struct key_draft *draft)
{
    warn(loading, draft, draft->model.exp_optional,
         "tokens of this key need no \"exp\"; those without are good for ever");
}

static void add_public(struct loading *loading, const struct key_draft *draft,
                       const char *path, struct tokens *tokens)
{
    const char *setting = *draft->pointer ? draft->pointer : "/auth/jwt/jwks_file";
    MX_SCOPED(key_reading_fini) struct key_reading reading = {.err = MCPX_OK};
    mx_scoped_text resolved = {0};
    struct key_file *file = NULL;

    warn_endless(loading, draft);
    mx_path_resolve(path, draft->beside, &resolved);
    if (!resolved.failed)
        file = key_file_new(resolved.text, setting, draft->model.alg ? &draft->model : NULL);
    if (!file) {
        loading->no_memory = true;
        return;
    }
    key_file_read(file, &reading);
    loading->no_memory |= reading.err == MCPX_ENOMEM || reading.why.failed ||
                          jwt_ring_add_file(&tokens->ring, file);
    if (reading.err == MCPX_ECONFIG)
        mx_format(begin(loading, REPORT_ERROR, draft), "the file %s: %s\n", file->path,
                  &reading.why);
    warn(loading, draft, !reading.err && mx_file_is_anybodys(file->path),
         "everybody on this machine may change the keys, and so come in as anybody; chmod o-w "
         "mends that");
    (void)key_file_take(file, &reading);
    key_file_unref(file);
}

static void add_secret(struct loading *loading, const struct key_draft *draft,
                       struct mcpx_slice secret, struct tokens *tokens)
{
    if (secret.len < SECRET_MIN || secret.len > SECRET_MAX) {
        mx_format(begin(loading, REPORT_ERROR, draft),
                  "found a secret of %s bytes, expected 16..4096\n", secret.len);
        return;
    }
    if (secret.len < draft->model.alg->bytes) /* RFC 7518 section 3.2 */
        mx_format(begin(loading, REPORT_WARNING, draft),
                  "a secret for %s should have at least %s bytes\n", draft->model.alg->name,
                  draft->model.alg->bytes);
    warn_endless(loading, draft);
    if (jwt_ring_add(&tokens->ring, &draft->model, secret))
        loading->no_memory = true;
}

static void wipe(struct mcpx_text *secret)
{
    if (secret->text)
        OPENSSL_cleanse(secret->text, secret->size);
    mcpx_text_fini(secret);
}

/*
 * Adds the content of a file, without one newline at its end and the blanks and CR before it:
 * editors and shells leave them there.
 */
static void add_secret_file(struct loading *loading, const struct key_draft *draft,
                            const char *path, struct tokens *tokens)
{
    MX_SCOPED(wipe) struct mcpx_text secret = {0};
    mx_scoped_text resolved = {0};
    const char *why = NULL;
    size_t len;

    mx_path_resolve(path, draft->beside, &resolved);
    /* reserved at once, so that growing leaves no copy behind */
    if (resolved.failed || !mcpx_text_reserve(&secret, (size_t)2 * SECRET_MAX)) {
        loading->no_memory = true;
        return;
    }
    why = mx_file_read(resolved.text, SECRET_MAX + 1, &secret);
    if (why) {
        mx_format(begin(loading, REPORT_ERROR, draft), "the file %s cannot be read: %s\n",
                  resolved.text, why);
        return;
    }
    if (secret.len > 0 && secret.text[secret.len - 1] == '\n')
        secret.len--;
    for (len = secret.len; len > 0 && strchr(" \t\r\n", secret.text[len - 1]);)
        len--;
    if (len < secret.len)
        mx_format(begin(loading, REPORT_WARNING, draft),
                  "%s bytes behind the secret are left out: blanks, CR or empty lines\n",
                  secret.len - len);
    warn(loading, draft, mx_file_is_public(resolved.text),
         "everybody on this machine may read the secret; chmod o-r mends that");
    add_secret(loading, draft, (struct mcpx_slice){secret.text, len}, tokens);
}

/* `secret` or `secret_file` at the top of auth.jwt: the one from the later source. */
static void add_simple(struct loading *loading, struct tokens *tokens)
{
    const struct settings *settings = &loading->settings;
    enum setting_source text = settings_source(settings, "/auth/jwt/secret");
    enum setting_source file = settings_source(settings, "/auth/jwt/secret_file");
    bool has_text = *settings->secret != '\0';
    bool has_file = *settings->secret_file != '\0';
    bool use_file = has_file && (!has_text || file > text);
    struct key_draft draft =
        use_file ? draft_of(loading, "/auth/jwt/secret_file", "MCPX_AUTH_JWT_SECRET_FILE")
                 : draft_of(loading, "/auth/jwt/secret", "MCPX_AUTH_JWT_SECRET");

    draft.model.alg = jwt_alg_find("HS256");
    draft.model.exp_optional = settings->exp_optional;
    if (has_text && has_file && text == file)
        mx_format(begin(loading, REPORT_ERROR, &draft), "%s\n",
                  "found both secret and secret_file, expected one of them");
    else if (use_file)
        add_secret_file(loading, &draft, settings->secret_file, tokens);
    else if (has_text)
        add_secret(loading, &draft, mcpx_slice_of(settings->secret), tokens);
}

/* Dev mode signs with a random secret; it is shown nowhere and ends with the process. */
static void add_random(struct loading *loading, struct tokens *tokens)
{
    const struct config *before = loading->sources->before;
    const struct jwt_keys *own = before ? &before->tokens->ring.secrets : NULL;
    const struct key_draft draft = {
        .source = "--dev", .pointer = "", .model.alg = jwt_alg_find("HS256")};
    unsigned char random[DEV_SECRET];
    struct chance chance = loading->sources->chance;

    if (own && own->count > 0) { /* a reload keeps the first one */
        EVP_PKEY_up_ref(own->rows[0].key);
        if (jwt_keys_add(&tokens->ring.secrets, &own->rows[0]))
            loading->no_memory = true;
        return;
    }
    chance.fill(chance.context, random, sizeof random);
    add_secret(loading, &draft, (struct mcpx_slice){(const char *)random, sizeof random},
               tokens);
    OPENSSL_cleanse(random, sizeof random);
}

/* True when an earlier key has the same kid: a token could then mean either. */
static bool kid_is_taken(const json_t *keys, size_t index)
{
    const json_t *kid = json_object_get(json_array_get(keys, index), "kid");

    for (size_t i = 0; json_is_string(kid) && i < index; i++)
        if (json_equal(json_object_get(json_array_get(keys, i), "kid"), kid))
            return true;
    return false;
}

/* Is the key in the member that its algorithm requires? Reports errors. */
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
        report_here(loading, REPORT_ERROR, fault);
    return !fault;
}

static void add_listed(struct loading *loading, const json_t *keys, size_t index,
                       struct tokens *tokens)
{
    const json_t *key = json_array_get(keys, index);
    const char *alg = json_string_value(json_object_get(key, "alg"));
    const char *exp = json_string_value(json_object_get(key, "exp"));
    const char *public_key = json_string_value(json_object_get(key, "public_key_file"));
    const char *file = json_string_value(json_object_get(key, "secret_file"));
    struct mcpx_slice secret = json_slice(json_object_get(key, "secret"));
    struct key_draft draft = {.source = loading->sources->file,
                              .beside = loading->sources->file,
                              .model.kid =
                                  (char *)json_string_value(json_object_get(key, "kid")),
                              .model.alg = alg ? jwt_alg_find(alg) : NULL,
                              .model.exp_optional = exp && strcmp(exp, "optional") == 0};
    bool is_placed;

    pointer_set(loading, "auth", "jwt");
    pointer_push(loading, "keys");
    pointer_push_index(loading, index);
    draft.pointer = pointer_text(loading);
    if (!alg)
        report_here(loading, REPORT_ERROR,
                    "\"alg\" is missing, expected one such as \"HS256\", \"RS256\", "
                    "\"ES256\", \"EdDSA\"");
    is_placed = check_place(loading, key, draft.model.alg);
    if (kid_is_taken(keys, index))
        report_here(loading, REPORT_ERROR, "an earlier key has the same \"kid\"");
    if (!draft.model.alg || !is_placed)
        return;
    if (public_key)
        add_public(loading, &draft, public_key, tokens);
    else if (file)
        add_secret_file(loading, &draft, file, tokens);
    else if (secret.len >= SECRET_MIN && secret.len <= SECRET_MAX) /* else it was reported */
        add_secret(loading, &draft, secret, tokens);
}

void load_keys(struct loading *loading, struct tokens *tokens)
{
    const json_t *keys = json_object_get(tree_at(loading, "auth", "jwt"), "keys");
    struct settings *settings = &loading->settings;
    const struct key_draft set =
        draft_of(loading, "/auth/jwt/jwks_file", "MCPX_AUTH_JWT_JWKS_FILE");

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
    if (*settings->jwks_file)
        add_public(loading, &set, settings->jwks_file, tokens);
    tokens->ring.issuer = settings->issuer;
    tokens->ring.audience = settings->audience;
    settings->issuer = settings->audience = NULL;
}
