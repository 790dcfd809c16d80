/*
 * cmd_prepare.c - prepares the start of a router: an issuer's keys, kinds, tokens.
 *
 * jwks fetches a key set for the router, which makes no requests itself. The set is read as the
 * router would read it, and then replaces the file. So a wrong answer of the issuer's server, such
 * as an error page, cannot take keys away.
 *
 * token makes tokens, and their hashes for the configuration. A slow hash is not needed, because
 * 256 random bits cannot be guessed; the router hashes a token at every connection. A token is read
 * from standard input only, because arguments are visible in process lists and shell histories.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "router/policy/identity/jwt.h"
#include "tools/common/http.h"
#include "tools/common/input.h"
#include <mcpx/digest.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- jwks ---- */

enum { TIMEOUT_MS = 30000 };

/* Checks that the router would accept the keys. Prints their number. */
static void judge(const struct mcpx_text *text)
{
    MX_SCOPED(jwt_keys_fini) struct jwt_keys keys = {0};
    mx_scoped_text why = {0};
    size_t passed_over = 0;

    if (memory_checked(
            public_keys_read(mcpx_text_view(text), NULL, &keys, &passed_over, &why)))
        end_with(STATUS_FAILED, "no key set that the router takes: %s", why.text);
    printf("%zu keys, %zu passed over\n", keys.count, passed_over);
}

/* Public keys: others may read them. */
enum { KEYS_MODE = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH };

static int cmd_jwks(const struct arguments *arguments)
{
    struct download download = {.url = arguments_value(arguments, "--url"),
                                .ca_file = arguments_value(arguments, "--ca-file"),
                                .loopback_http = arguments_have(arguments, "--insecure-http"),
                                .bytes_max = KEY_FILE_BYTES,
                                .timeout_ms =
                                    arguments_ms(arguments, "--timeout", TIMEOUT_MS)};
    mx_scoped_text text = {0};

    must(download_do(&download, &text));
    judge(&text);
    return input_replace(arguments_value(arguments, "--out"), mcpx_text_view(&text),
                         KEYS_MODE);
}

/* ---- kind ---- */

static void write_json(struct mcpx_text *out, const struct mcpx_kind *kind)
{
    mx_format(out, "{\"valid\":true,\"type\":%q", kind->type);
    mx_json_add_optional(out, "method", kind->method);
    mx_json_add_optional(out, "context", kind->context);
    mx_format(out, ",\"reserved\":%s,\"dot_segment\":%s}\n", mcpx_kind_is_reserved(kind),
              mcpx_kind_has_dot_segment(kind));
}

static void write_table(struct mcpx_text *out, const struct mcpx_kind *kind)
{
    mx_format(out, "type     %s\n", kind->type);
    if (kind->method.text)
        mx_format(out, "method   %s\n", kind->method);
    if (kind->context.text)
        mx_format(out, "context  %s\n", kind->context);
    if (mcpx_kind_is_reserved(kind))
        mcpx_text_puts(out, "note     only the router may send this type\n");
    if (mcpx_kind_has_dot_segment(kind))
        mcpx_text_puts(out, "note     the context has a dot segment, which no '*' among "
                            "other bytes of a context covers\n");
}

static int cmd_kind(const struct arguments *arguments)
{
    bool json = arguments_have(arguments, "--json");
    struct mcpx_text out = {0};
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_kind kind;
    bool valid = kind_word_read(arguments->operands[0], &kind, &fault);

    if (!valid && !json)
        return fail_with(STATUS_USAGE, "not a valid kind: %s, byte %zu: %s", fault.field,
                         fault.offset, fault.reason);
    if (!valid)
        mx_format(&out, "{\"valid\":false,\"reason\":%q,\"field\":%q,\"offset\":%s}\n",
                  fault.reason, fault.field, fault.offset);
    else if (json)
        write_json(&out, &kind);
    else
        write_table(&out, &kind);
    return output_print(&out, valid ? STATUS_OK : STATUS_USAGE);
}

/* ---- token ---- */

enum { RANDOM_BYTES = 32, TOKEN_LEN = 43 };

static int fail_of_openssl(void)
{
    return fail_with(STATUS_FAILED, "OpenSSL could not do it");
}

static int make(bool json)
{
    unsigned char random[RANDOM_BYTES];
    char hex[MCPX_SHA256_LEN + 1];
    struct mcpx_text token = {0};
    int status = STATUS_OK;

    if (RAND_bytes(random, sizeof random) != 1)
        return fail_of_openssl();
    mcpx_text_reserve(&token, TOKEN_LEN); /* so that growing leaves no copy behind */
    mx_base64url_encode(random, sizeof random, &token);
    OPENSSL_cleanse(random, sizeof random);
    if (mcpx_digest_bytes(mcpx_text_view(&token), hex))
        status = fail_of_openssl();
    else
        printf(json ? "{\"token\":\"%s\",\"token_sha256\":\"%s\"}\n"
                    : "token         %s\ntoken_sha256  %s\n",
               token.text, hex);
    connection_wipe(token.text);
    return status;
}

static int hash_input(bool json)
{
    static char input[CONNECTION_TOKEN_MAX + 2];
    char hex[MCPX_SHA256_LEN + 1];
    size_t len = fread(input, 1, sizeof input, stdin);
    int status = STATUS_OK;

    if (len > 0 && input[len - 1] == '\n')
        len--;
    if (len > 0 && input[len - 1] == '\r')
        len--;
    if (ferror(stdin))
        status = fail_with(STATUS_FAILED, "cannot read standard input");
    else if (!connection_token_is_valid(input, len))
        status = fail_with(STATUS_USAGE,
                           "expected one token on standard input: 1 to %d printable ASCII "
                           "characters without spaces",
                           CONNECTION_TOKEN_MAX);
    else if (mcpx_digest_bytes((struct mcpx_slice){input, len}, hex))
        status = fail_of_openssl();
    else
        printf(json ? "{\"token_sha256\":\"%s\"}\n" : "%s\n", hex);
    OPENSSL_cleanse(input, sizeof input);
    return status;
}

static int cmd_token(const struct arguments *arguments)
{
    bool json = arguments_have(arguments, "--json");

    return arguments_have(arguments, "--sha256") ? hash_input(json) : make(json);
}

const struct command prepare_verbs[] = {
    {"jwks", "fetch", 1, 1, false, "fetch the public keys of an issuer",
     "Fetches a JSON Web Key Set, reads it as the router would, and replaces FILE by it, or "
     "changes nothing. The router reads the file again when it changes. Redirects are not "
     "followed, and no more than 256 KiB are taken. Prints how many keys there are, and how "
     "many are for something else. Exits 1 when the answer is no key set that the router "
     "takes, or FILE cannot be written, 2 for an address that is not allowed, 5 when the "
     "server cannot be reached or its certificate is not trusted, 124 when it does not "
     "answer.",
     OPTIONS(
         OPTION("--url", "URL", VALUE_TEXT, OPTION_REQUIRED,
                "where the issuer publishes it, https://..."),
         OPTION("--out", "FILE", VALUE_FILE, OPTION_REQUIRED,
                "what to replace, as auth.jwt.jwks_file names it"),
         OPTION("--ca-file", "FILE", VALUE_FILE, 0,
                "trust the certificates in this PEM file, not the system's"),
         OPTION("--timeout", "S", VALUE_SECONDS, 0, "how long it may take, 0 for ever; 30"),
         SWITCH("--insecure-http", "allow http:// to this machine")),
     NULL, cmd_jwks, "prepare"},
    {"kind", "KIND", 1, 1, false, "split a kind into type, method and context",
     "Shows how the router reads a kind, or what is wrong with it and at which byte.",
     ONE_OBJECT_OPTIONS, NULL, cmd_kind, "prepare"},
    {"token", NULL, 0, 0, false, "make a participant's token",
     "Prints a new random token of 256 bits, which is kept nowhere, and the \"token_sha256\" "
     "that goes into the configuration. A token is never an argument: others can read those.",
     OPTIONS(OPTION("--sha256", NULL, VALUE_NONE, 0,
                    "read a token from standard input and print only its SHA-256"),
             JSON_OPTION("print one JSON object")),
     NULL, cmd_token, "prepare"},
    {.name = NULL},
};
