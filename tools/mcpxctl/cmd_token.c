/*
 * cmd_token.c - makes tokens, and their hashes for the configuration. Nobody can guess 256
 * random bits, so a slow hash is not needed; the router hashes a token at every connection. A
 * token is read from standard input only, because arguments are visible in process lists and
 * shell histories.
 */
#include "tools/mcpxctl/verbs.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <stdio.h>
#include <string.h>

enum { RANDOM_BYTES = 32, TOKEN_LEN = 43, HASH_BYTES = 32, INPUT_MAX = 8192 };

/* base64url without padding: 32 bytes to 43 characters. */
static void spell(const unsigned char random[RANDOM_BYTES], char token[TOKEN_LEN + 1])
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    for (size_t i = 0; i < TOKEN_LEN; i++) {
        size_t bit = i * 6, byte = bit / 8;
        unsigned pair = (unsigned)random[byte] << 8;

        if (byte + 1 < RANDOM_BYTES)
            pair |= random[byte + 1];
        token[i] = digits[(pair >> (10 - bit % 8)) & 63];
    }
    token[TOKEN_LEN] = '\0';
}

static bool hash(const char *token, size_t len, char hex[2 * HASH_BYTES + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[HASH_BYTES];

    if (EVP_Digest(token, len, digest, NULL, EVP_sha256(), NULL) != 1)
        return false;
    for (size_t i = 0; i < HASH_BYTES; i++) {
        *hex++ = digits[digest[i] >> 4];
        *hex++ = digits[digest[i] & 15];
    }
    *hex = '\0';
    return true;
}

static int fail_of_openssl(void)
{
    return fail_with(STATUS_FAILED, "token", "OpenSSL could not do it");
}

static int make(bool json)
{
    unsigned char random[RANDOM_BYTES];
    char token[TOKEN_LEN + 1], hex[2 * HASH_BYTES + 1];

    if (RAND_bytes(random, sizeof random) != 1)
        return fail_of_openssl();
    spell(random, token);
    if (!hash(token, TOKEN_LEN, hex))
        return fail_of_openssl();
    printf(json ? "{\"token\":\"%s\",\"token_sha256\":\"%s\"}\n"
                : "token         %s\ntoken_sha256  %s\n",
           token, hex);
    OPENSSL_cleanse(random, sizeof random);
    OPENSSL_cleanse(token, sizeof token);
    return STATUS_OK;
}

/* A token must fit into a header: printable ASCII without spaces. */
static bool is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return len > 0;
}

static int hash_input(bool json)
{
    static char input[INPUT_MAX + 2];
    char hex[2 * HASH_BYTES + 1];
    size_t len = fread(input, 1, sizeof input, stdin);
    int status = STATUS_OK;

    if (len > 0 && input[len - 1] == '\n')
        len--;
    if (len > 0 && input[len - 1] == '\r')
        len--;
    if (ferror(stdin))
        status = fail_with(STATUS_FAILED, "token", "cannot read standard input");
    else if (len > INPUT_MAX || !is_token(input, len))
        status = fail_with(STATUS_USAGE, "token",
                           "expected one token on standard input: 1 to %d printable ASCII "
                           "characters without spaces",
                           INPUT_MAX);
    else if (!hash(input, len, hex))
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
