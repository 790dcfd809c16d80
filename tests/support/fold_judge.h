/*
 * fold_judge.h - a second opinion on names of JSON members that differ by letter case only, over
 * jansson's reading of a text.
 */
#ifndef FOLD_JUDGE_H
#define FOLD_JUDGE_H

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

/* A name in small ASCII letters, as far as its characters are some for somebody. */
static inline void fold_name(const char *name, char *out, size_t size)
{
    static const char *const foreign[][2] = {
        {"\u017f", "s"}, {"\u212a", "k"}, {"\u0130", "i"}, {"\u0131", "i"}};
    size_t len = 0;

    while (*name && len + 1 < size) {
        size_t step = 0;

        for (size_t i = 0; i < 4 && !step; i++)
            if (strncmp(name, foreign[i][0], strlen(foreign[i][0])) == 0) {
                out[len++] = foreign[i][1][0];
                step = strlen(foreign[i][0]);
            }
        if (!step)
            out[len++] = *name >= 'A' && *name <= 'Z' ? (char)(*name | 0x20) : *name;
        name += step ? step : 1;
    }
    out[len] = '\0';
}

/** True when the object has a member that is named like `name` without being it. */
static inline bool fold_finds_like(const json_t *object, const char *name)
{
    char wanted[64], folded[64];
    const char *key;
    json_t *value;

    fold_name(name, wanted, sizeof wanted);
    json_object_foreach((json_t *)object, key, value) {
        fold_name(key, folded, sizeof folded);
        if (strcmp(key, name) != 0 && strcmp(folded, wanted) == 0)
            return true;
    }
    return false;
}

#endif
