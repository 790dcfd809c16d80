/*
 * match.c - a pattern is matched in one pass: each piece between two stars is taken where it first
 * occurs behind the piece before it. Rejected: backtracking; a pattern of two thousand bytes would
 * cost a million steps.
 *
 * Typing errors are counted by the usual edit distance, but a star stands for any letters at no
 * cost. The whole table of distances is kept, because walking back through it gives the intended
 * name: "tols*" becomes "tools*". Rejected: counting common letters; it takes "say" for "always".
 */
#define _GNU_SOURCE /* memmem */
#include "lib/base/match.h"

#include "lib/base/digits.h"

static bool begins_with(struct mcpx_slice text, struct mcpx_slice part)
{
    return part.len == 0 ||
           (text.text && text.len >= part.len && memcmp(text.text, part.text, part.len) == 0);
}

/* Cuts off the text up to and including the first `part`. False when there is none. */
static bool pass(struct mcpx_slice *text, struct mcpx_slice part)
{
    const char *found = NULL;

    if (part.len == 0)
        return true;
    if (text->text && part.text)
        found = memmem(text->text, text->len, part.text, part.len);
    if (found)
        *text = mx_behind(*text, (size_t)(found - text->text) + part.len);
    return found;
}

bool mx_glob_matches(struct mcpx_slice pattern, struct mcpx_slice text)
{
    struct mcpx_slice part = mx_cut_at(&pattern, '*');

    if (!pattern.text)
        return mcpx_slice_equal(part, text);
    if (!begins_with(text, part))
        return false;
    text = mx_behind(text, part.len);
    for (part = mx_cut_at(&pattern, '*'); pattern.text; part = mx_cut_at(&pattern, '*'))
        if (!pass(&text, part))
            return false;
    return text.len >= part.len && begins_with(mx_behind(text, text.len - part.len), part);
}

bool mx_glob_any_matches(char *const *patterns, size_t count, struct mcpx_slice text)
{
    for (size_t i = 0; i < count; i++) {
        if (mx_glob_matches(mcpx_slice_of(patterns[i]), text))
            return true;
    }
    return false;
}

size_t mx_common_len(struct mcpx_slice a, struct mcpx_slice b)
{
    size_t len = 0;

    while (len < a.len && len < b.len && a.text[len] == b.text[len])
        len++;
    return len;
}

/* ---- errors of typing ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool is_same(const struct mx_typo *typo, char a, char b)
{
    return a == b || (typo->costs->any_case && mx_lower(a) == mx_lower(b));
}

static bool is_star(const struct mx_typo *typo, size_t i)
{
    return typo->costs->star && typo->word.text[i - 1] == typo->costs->star;
}

/* The cost of an extra or missing byte. */
static size_t cost_of(const struct mx_typo *typo, char byte)
{
    return typo->costs->border && byte == typo->costs->border ? MX_TYPO_FAR
                                                              : typo->costs->edit;
}

/* The cost of the word's i-th byte in place of the name's j-th; both from 1. */
static size_t cost_of_pair(const struct mx_typo *typo, size_t i, size_t j)
{
    char a = typo->word.text[i - 1], b = typo->name.text[j - 1];
    size_t cost = cost_of(typo, a);

    if (is_same(typo, a, b))
        return 0;
    return cost == MX_TYPO_FAR ? cost : cost_of(typo, b);
}

static bool is_swapped(const struct mx_typo *typo, size_t i, size_t j)
{
    const char *a = typo->word.text + i, *b = typo->name.text + j;

    return i > 1 && j > 1 && is_same(typo, a[-1], b[-2]) && is_same(typo, a[-2], b[-1]);
}

static void fill_row(struct mx_typo *typo, size_t i)
{
    size_t *row = typo->distance[i], *above = typo->distance[i - 1];
    size_t cost = is_star(typo, i) ? 0 : cost_of(typo, typo->word.text[i - 1]);

    row[0] = above[0] + cost;
    for (size_t j = 1; j <= typo->name.len; j++) {
        if (is_star(typo, i)) {
            row[j] = least(above[j], row[j - 1]);
            continue;
        }
        row[j] = least(above[j] + cost, row[j - 1] + cost_of(typo, typo->name.text[j - 1]));
        row[j] = least(row[j], above[j - 1] + cost_of_pair(typo, i, j));
        if (is_swapped(typo, i, j))
            row[j] = least(row[j], typo->distance[i - 2][j - 2] + typo->costs->swap);
    }
}

size_t mx_typo_compare(struct mx_typo *typo, const struct mx_typo_costs *costs,
                       struct mcpx_slice word, struct mcpx_slice name)
{
    typo->costs = costs;
    typo->word = word;
    typo->name = name;
    typo->distance[0][0] = 0;
    for (size_t j = 1; j <= name.len; j++)
        typo->distance[0][j] = typo->distance[0][j - 1] + cost_of(typo, name.text[j - 1]);
    for (size_t i = 1; i <= word.len; i++)
        fill_row(typo, i);
    return typo->distance[word.len][name.len];
}

void mx_typo_write_meant(const struct mx_typo *typo, struct mcpx_text *out)
{
    char meant[MX_TYPO_WORD_MAX + MX_TYPO_NAME_MAX];
    size_t i = typo->word.len, j = typo->name.len, at = sizeof meant;

    while (i > 0 || j > 0) {
        size_t cost = typo->distance[i][j];

        if (i > 0 && is_star(typo, i)) {
            if (cost == typo->distance[i - 1][j])
                meant[--at] = typo->word.text[--i];
            else
                j--;
        } else if (i > 0 && j > 0 &&
                   cost == typo->distance[i - 1][j - 1] + cost_of_pair(typo, i, j)) {
            i--;
            meant[--at] = typo->name.text[--j];
        } else if (is_swapped(typo, i, j) &&
                   cost == typo->distance[i - 2][j - 2] + typo->costs->swap) {
            i -= 2;
            meant[--at] = typo->name.text[--j];
            meant[--at] = typo->name.text[--j];
        } else if (i > 0 &&
                   cost == typo->distance[i - 1][j] + cost_of(typo, typo->word.text[i - 1])) {
            i--;
        } else {
            meant[--at] = typo->name.text[--j];
        }
    }
    mcpx_text_add(out, meant + at, sizeof meant - at);
}
