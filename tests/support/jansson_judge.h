/*
 * jansson_judge.h - what jansson makes of a text, where it and RFC 8259 can be compared at all.
 */
#ifndef JANSSON_JUDGE_H
#define JANSSON_JUDGE_H

#include <mcpx/base.h>

#include <jansson.h>

/**
 * JUDGE_OTHER: jansson refuses for a reason of its own: a number it cannot hold (integers beyond
 * 64 bits, reals like 1e400), half a surrogate pair, U+0000 in a member name, nesting beyond its
 * parser's 2,048, or memory. Or it accepts for one: a NUL byte next to a number or literal is lost
 * on its way through jansson's one-character look-ahead.
 */
enum judgement { JUDGE_ACCEPTS, JUDGE_REFUSES, JUDGE_OTHER };

static inline enum judgement jansson_judge(struct mcpx_slice text)
{
    json_error_t error;
    json_t *value = json_loadb(text.text ? text.text : "", text.len,
                               JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

    if (value) {
        json_decref(value);
        return memchr(text.text, '\0', text.len) ? JUDGE_OTHER : JUDGE_ACCEPTS;
    }
    switch (json_error_code(&error)) {
    case json_error_numeric_overflow:
    case json_error_null_byte_in_key:
    case json_error_stack_overflow:
    case json_error_out_of_memory:
        return JUDGE_OTHER;
    default:
        break;
    }
    /* jansson calls these invalid syntax; the words are all that tells them apart */
    if (strstr(error.text, "invalid Unicode '\\u") || strstr(error.text, "NUL byte"))
        return JUDGE_OTHER;
    return JUDGE_REFUSES;
}

#endif
