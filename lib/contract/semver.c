/*
 * semver.c - is it a version of SemVer 2.0.0? Three numbers, what comes before a release, what is
 * said of a build.
 */
#include "lib/contract/semver.h"

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_word(char byte)
{
    return is_digit(byte) || byte == '-' || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
}

/* Passes over a number without leading zeros; gives the place behind it, or 0. */
static size_t pass_number(struct mcpx_slice text, size_t at)
{
    size_t begin = at;

    while (at < text.len && is_digit(text.text[at]))
        at++;
    return at == begin || (text.text[begin] == '0' && at > begin + 1) ? 0 : at;
}

/* Passes over words with points between them; gives the place behind them, or 0. */
static size_t pass_words(struct mcpx_slice text, size_t at, bool zeros_lead)
{
    for (;; at++) {
        size_t begin = at;
        bool is_number = true;

        for (; at < text.len && is_word(text.text[at]); at++)
            is_number = is_number && is_digit(text.text[at]);
        if (at == begin ||
            (is_number && !zeros_lead && text.text[begin] == '0' && at > begin + 1))
            return 0;
        if (at == text.len || text.text[at] != '.')
            return at;
    }
}

bool mx_is_semver(struct mcpx_slice text)
{
    size_t at = pass_number(text, 0);

    for (int i = 0; i < 2 && at > 0; i++)
        at = at < text.len && text.text[at] == '.' ? pass_number(text, at + 1) : 0;
    if (at > 0 && at < text.len && text.text[at] == '-')
        at = pass_words(text, at + 1, false);
    if (at > 0 && at < text.len && text.text[at] == '+')
        at = pass_words(text, at + 1, true);
    return at > 0 && at == text.len;
}
