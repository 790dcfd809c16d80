/*
 * jwt.c - the few lines a JWT takes. Written apart from the router's own base64url, so that one
 * mistake is not made twice; OpenSSL's encoder with the two letters exchanged does it.
 */
#include "tests/support/jwt.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>

char *jwt_encode(const void *bytes, size_t len)
{
    char *text = malloc(len * 2 + 5);

    if (!text)
        abort();
    EVP_EncodeBlock((unsigned char *)text, bytes, (int)len);
    for (char *at = text; *at; at++) {
        if (*at == '+')
            *at = '-';
        if (*at == '/')
            *at = '_';
    }
    text[strcspn(text, "=")] = '\0';
    return text;
}

char *jwt_make(const char *header, const char *claims, const char *digest, const char *secret)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    char *parts[3] = {jwt_encode(header, strlen(header)), jwt_encode(claims, strlen(claims))};
    size_t size = strlen(parts[0]) + strlen(parts[1]) + 3 * EVP_MAX_MD_SIZE;
    char *token = malloc(size);

    if (!token)
        abort();
    snprintf(token, size, "%s.%s", parts[0], parts[1]);
    if (!HMAC(EVP_get_digestbyname(digest), secret, (int)strlen(secret),
              (unsigned char *)token, strlen(token), mac, &len))
        abort();
    parts[2] = jwt_encode(mac, len);
    snprintf(token, size, "%s.%s.%s", parts[0], parts[1], parts[2]);
    for (int i = 0; i < 3; i++)
        free(parts[i]);
    return token;
}
