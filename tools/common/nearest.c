/*
 * nearest.c - counts the errors of typing between a word and each name, and decides how many are
 * too many for a guess.
 */
#include "tools/common/nearest.h"

#include "lib/base/match.h"

#include <stdio.h>
#include <string.h>

enum { BEGINNING_MIN = 3, WRONG_MAX = 3 };

static const struct mx_typo_costs costs = {.edit = 1, .swap = 1};

void nearest_begin(struct nearest *nearest, const char *word, size_t len)
{
    while (len > 0 && *word == '-') {
        word++;
        len--;
    }
    *nearest = (struct nearest){.word = word, .len = len};
    nearest->wrong = (len < 3 * WRONG_MAX ? (len + 1) / 3 : WRONG_MAX) + 1;
}

void nearest_consider(struct nearest *nearest, const char *name)
{
    const char *letters = name + strspn(name, "-");
    size_t len = strlen(letters), wrong;
    struct mx_typo typo;

    if (nearest->len > NEAREST_NAME || strlen(name) > NEAREST_NAME)
        return;
    wrong = mx_typo_compare(&typo, &costs, (struct mcpx_slice){nearest->word, nearest->len},
                            (struct mcpx_slice){letters, len});
    if (wrong > 1 && nearest->len >= BEGINNING_MIN &&
        strncmp(nearest->word, letters, nearest->len) == 0)
        wrong = 1;
    if (wrong >= nearest->wrong)
        return;
    nearest->wrong = wrong;
    snprintf(nearest->hint, sizeof nearest->hint, " (did you mean %s?)", name);
}
