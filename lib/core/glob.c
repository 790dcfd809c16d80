/*
 * glob.c - one pass that remembers the latest star only. What an earlier star swallowed never
 * needs a second look, because the latest one can swallow more instead; so there is no
 * exponential backtracking, and no regular expression whose quoting could be got wrong.
 */
#include "lib/core/glob.h"

bool mx_glob_matches(struct mcpx_slice pattern, struct mcpx_slice text)
{
    size_t p = 0, t = 0;
    size_t star = SIZE_MAX; /* where the latest star stands in the pattern */
    size_t resume = 0;      /* the byte of text it has not swallowed yet */

    while (t < text.len) {
        if (p < pattern.len && pattern.text[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.len && pattern.text[p] == text.text[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.text[p] == '*')
        p++;
    return p == pattern.len;
}

bool mx_glob_any_matches(char *const *patterns, size_t count, struct mcpx_slice text)
{
    for (size_t i = 0; i < count; i++) {
        if (mx_glob_matches(mcpx_slice_of(patterns[i]), text))
            return true;
    }
    return false;
}
