/*
 * glob.c - one pass: what stands between two stars is looked for where it comes first, and whatever
 * that leaves the later stars can swallow. To compare byte by byte, and again from the next byte
 * when the rest does not fit, was refused: whoever may give a pattern of two thousand bytes makes
 * that a million steps.
 */
#define _GNU_SOURCE /* memmem */
#include "lib/core/glob.h"

static struct mcpx_slice without(struct mcpx_slice text, size_t len)
{
    return (struct mcpx_slice){text.text + len, text.len - len};
}

static bool begins_with(struct mcpx_slice text, struct mcpx_slice part)
{
    return part.len == 0 ||
           (text.text && text.len >= part.len && memcmp(text.text, part.text, part.len) == 0);
}

/* What stands before the first star; all of it, where there is none. */
static struct mcpx_slice before_star(struct mcpx_slice pattern)
{
    const char *star = pattern.len > 0 ? memchr(pattern.text, '*', pattern.len) : NULL;

    return (struct mcpx_slice){pattern.text,
                               star ? (size_t)(star - pattern.text) : pattern.len};
}

/* Leaves what is behind the place where the part comes first. False when there is none. */
static bool pass(struct mcpx_slice *text, struct mcpx_slice part)
{
    const char *found = NULL;

    if (part.len == 0)
        return true;
    if (text->text && part.text)
        found = memmem(text->text, text->len, part.text, part.len);
    if (found)
        *text = without(*text, (size_t)(found - text->text) + part.len);
    return found;
}

bool mx_glob_matches(struct mcpx_slice pattern, struct mcpx_slice text)
{
    struct mcpx_slice part = before_star(pattern);

    if (part.len == pattern.len)
        return mcpx_slice_equal(pattern, text);
    if (!begins_with(text, part))
        return false;
    text = without(text, part.len);
    pattern = without(pattern, part.len + 1);
    for (part = before_star(pattern); part.len < pattern.len; part = before_star(pattern)) {
        if (!pass(&text, part))
            return false;
        pattern = without(pattern, part.len + 1);
    }
    return text.len >= pattern.len &&
           begins_with(without(text, text.len - pattern.len), pattern);
}

bool mx_glob_any_matches(char *const *patterns, size_t count, struct mcpx_slice text)
{
    for (size_t i = 0; i < count; i++) {
        if (mx_glob_matches(mcpx_slice_of(patterns[i]), text))
            return true;
    }
    return false;
}
