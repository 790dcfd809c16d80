/*
 * fold.c - names compared without letter case. Go's encoding/json, .NET's web defaults, Newtonsoft,
 * cJSON and Java's equalsIgnoreCase take "Name" for name, the first of them "\u212aind" for kind
 * as well; the last of two such members wins. Every name that decides anything is ASCII, so the
 * whole of Unicode's tables shrinks to the characters outside ASCII that fold into it: four.
 * A test asks another program's tables whether there are more. Tables of all 1,400 foldings were
 * refused: no answer would change.
 */
#include "lib/core/fold.h"

#include "lib/core/escape.h"

/* A character in UTF-8 and the ASCII letter it folds to. */
static const struct {
    const char bytes[4];
    char letter;
} foreign[] = {
    {"\xc4\xb0", 'i'},     /* U+0130, capital i with dot above */
    {"\xc4\xb1", 'i'},     /* U+0131, dotless i */
    {"\xc5\xbf", 's'},     /* U+017F, long s */
    {"\xe2\x84\xaa", 'k'}, /* U+212A, Kelvin sign */
};

enum { FOREIGN = sizeof foreign / sizeof *foreign, NO_LETTER = 0x100 };

/* The letter of the character that begins with `lead`, the rest of which is taken from the walk. */
static int foreign_letter(struct mx_inside *inside, int lead)
{
    char bytes[4] = {(char)lead, 0, 0, 0};
    size_t len = lead < 0xe0 ? 2 : 3;

    for (size_t i = 1; i < len; i++)
        bytes[i] = (char)mx_inside_next(inside);
    for (size_t i = 0; i < FOREIGN; i++)
        if (memcmp(bytes, foreign[i].bytes, sizeof bytes) == 0)
            return foreign[i].letter;
    return NO_LETTER;
}

static int to_lower(int byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte;
}

enum mx_likeness mx_fold_compare(struct mcpx_slice raw, const char *name)
{
    struct mx_inside inside = mx_inside_start(raw);
    enum mx_likeness likeness = MX_SAME;
    int byte;

    for (; *name; name++) {
        byte = mx_inside_next(&inside);
        if (byte == *name)
            continue;
        if (byte >= 0x80)
            byte = foreign_letter(&inside, byte);
        if (to_lower(byte) != to_lower(*name))
            return MX_UNLIKE;
        likeness = MX_LIKE;
    }
    byte = mx_inside_next(&inside);
    if (byte < 0)
        return likeness;
    return byte == 0 ? MX_LIKE : MX_UNLIKE;
}
