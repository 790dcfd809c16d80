/*
 * nearest.c - the distance between two words: how many letters have to be put right.
 * Counting common letters was refused: it takes "say" for "always".
 */
#include "tools/common/nearest.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_LEN = 31, BEGINNING_MIN = 3, WRONG_MAX = 3 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Row by row; rows[i % 3][j] is the distance of the first i letters of `a` from j of `b`. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][NAME_MAX_LEN + 1];

    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(row[j], least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

void nearest_begin(struct nearest *nearest, const char *word, size_t len)
{
    while (len > 0 && *word == '-') {
        word++;
        len--;
    }
    *nearest = (struct nearest){.word = word, .len = len};
    nearest->wrong = least((len + 1) / 3, WRONG_MAX) + 1;
}

void nearest_consider(struct nearest *nearest, const char *name)
{
    const char *letters = name + strspn(name, "-");
    size_t len = strlen(letters), wrong;

    if (nearest->len > NAME_MAX_LEN || len > NAME_MAX_LEN)
        return;
    wrong = distance(nearest->word, nearest->len, letters, len);
    if (nearest->len >= BEGINNING_MIN && strncmp(nearest->word, letters, nearest->len) == 0)
        wrong = least(wrong, 1);
    if (wrong >= nearest->wrong)
        return;
    nearest->wrong = wrong;
    nearest->name = name;
}

const char *nearest_hint(struct nearest *nearest)
{
    if (!nearest->name)
        return "";
    snprintf(nearest->hint, sizeof nearest->hint, " (did you mean %s?)", nearest->name);
    return nearest->hint;
}
