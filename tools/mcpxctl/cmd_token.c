/*
 * cmd_token.c - makes tokens, and their hashes for the configuration. Nobody can guess 256
 * random bits, so a slow hash is not needed; the router hashes a token at every connection. A
 * token is read from standard input only, because arguments are visible in process lists and
 * shell histories.
 */
#include "tools/mcpxctl/verbs.h"

#include "router/policy/base64url.h"
#include "tools/common/connect.h"
#include <mcpx/digest.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <stdio.h>

enum { RANDOM_BYTES = 32, TOKEN_LEN = 43 };

static int fail_of_openssl(void)
{
    return fail_with(STATUS_FAILED, "token", "OpenSSL could not do it");
}

static int make(bool json)
{
    unsigned char random[RANDOM_BYTES];
    char hex[MCPX_SHA256_LEN + 1];
    struct mcpx_text token = {0};
    int status = STATUS_OK;

    if (RAND_bytes(random, sizeof random) != 1)
        return fail_of_openssl();
    if (mcpx_text_reserve(&token, TOKEN_LEN)) /* so that growing leaves no copy behind */
        base64url_encode(random, sizeof random, &token);
    OPENSSL_cleanse(random, sizeof random);
    if (token.failed)
        status = complain_of_memory("token");
    else if (mcpx_digest_bytes(mcpx_text_view(&token), hex))
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
        status = fail_with(STATUS_FAILED, "token", "cannot read standard input");
    else if (!connection_token_is_valid(input, len))
        status = fail_with(STATUS_USAGE, "token",
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

int cmd_token(const struct arguments *arguments)
{
    bool json = arguments_have(arguments, "--json");

    return arguments_have(arguments, "--sha256") ? hash_input(json) : make(json);
}
