/*
 * base64url.c - a strict decoder for tokens and keys: each value has one spelling. OpenSSL's
 * decoder was refused, because it accepts white space, needs padding and ignores unused bits.
 */
#include "router/policy/base64url.h"

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64url_encode(const unsigned char *bytes, size_t len, struct mcpx_text *out)
{
    uint32_t bits = 0;
    unsigned held = 0;

    for (size_t i = 0; i < len; i++) {
        bits = (bits << 8 | bytes[i]) & 0xffff;
        for (held += 8; held >= 6; held -= 6)
            mcpx_text_add(out, &alphabet[bits >> (held - 6) & 63], 1);
    }
    if (held > 0)
        mcpx_text_add(out, &alphabet[bits << (6 - held) & 63], 1);
}

/* 0..63, or -1 for a byte outside the alphabet. */
static int value_of(char byte)
{
    const char *at = byte ? strchr(alphabet, byte) : NULL;

    return at ? (int)(at - alphabet) : -1;
}

bool base64url_decode(struct mcpx_slice text, struct mcpx_text *out)
{
    size_t begin = out->len;
    uint32_t bits = 0;
    unsigned held = 0;
    bool valid = text.len % 4 != 1;

    for (size_t i = 0; valid && i < text.len; i++) {
        int value = value_of(text.text[i]);
        char byte;

        valid = value >= 0;
        bits = (bits << 6 | (uint32_t)(value & 63)) & 0xffff;
        held += 6;
        if (held < 8)
            continue;
        held -= 8;
        byte = (char)(unsigned char)(bits >> held & 0xff);
        mcpx_text_add(out, &byte, 1);
    }
    valid = valid && (bits & ((1u << held) - 1)) == 0;
    if (!valid && out->text) {
        out->len = begin;
        out->text[begin] = '\0';
    }
    return valid;
}
