/*
 * plain.c - which bytes are plain, as a table that all units share; the unit for machines without a
 * vector unit that we know, eight bytes at a time, in standard C; and which unit passes over plain
 * bytes: asked of the processor at the first call and kept in pointers, the only thing in this
 * library that is written after it was loaded, and always with the same value. A linker's indirect
 * function would save those pointers and tie us to one C library.
 */
#include "lib/base/plain.h"

#include <stdatomic.h>

/* clang-format off */
const bool mx_is_plain[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
};
/* clang-format on */

/* How many bytes precede the lowest marked one; `marks` has at least one bit, all are 0x80s. */
static inline size_t before_first(uint64_t marks)
{
    uint64_t below = (marks - 1) & ~marks; /* one bit 0 in every byte up to the marked one */

    return (size_t)((((below & MX_EACH_BYTE(1)) * MX_EACH_BYTE(1)) >> 56) - 1);
}

/*
 * 0x80 in every byte that is a quote, a backslash, a control character or not ASCII. A borrow
 * may mark further bytes, but only above the first right one, and only the first one counts.
 */
static inline uint64_t marks_of(uint64_t word)
{
    uint64_t control = word - MX_EACH_BYTE(0x20);
    uint64_t quote = (word ^ MX_EACH_BYTE('"')) - MX_EACH_BYTE(1);
    uint64_t backslash = (word ^ MX_EACH_BYTE('\\')) - MX_EACH_BYTE(1);

    return (control | quote | backslash | word) & MX_EACH_BYTE(0x80);
}

const unsigned char *mx_plain_portable(const unsigned char *at, const unsigned char *end)
{
    while (end - at >= 8) {
        uint64_t marks = marks_of(mx_plain_load(at));

        if (marks)
            return at + before_first(marks);
        at += 8;
    }
    while (at < end && mx_is_plain[*at])
        at++;
    return at;
}

const unsigned char *mx_nested_portable(const unsigned char *at, const unsigned char *end)
{
    bool inside = false;
    size_t depth = 0;

    for (; at < end; at++) {
        if (inside)
            at = mx_plain_portable(at, end);
        if (at == end)
            return NULL;
        if (*at == '"')
            inside = !inside;
        else if (inside)
            at += *at == '\\' && end - at > 1;
        else if (*at == '{' || *at == '[')
            depth++;
        else if ((*at == '}' || *at == ']') && --depth == 0)
            return at + 1;
    }
    return NULL;
}

/* ---- the choice ---- */

static mx_plain_skipper choose, choose_nested;
static mx_plain_skipper *_Atomic chosen = choose, *_Atomic chosen_nested = choose_nested;

void mx_plain_use(const struct mx_plain_unit *unit)
{
    atomic_store_explicit(&chosen, unit->skip, memory_order_relaxed);
    atomic_store_explicit(&chosen_nested, unit->nested, memory_order_relaxed);
}

static const struct mx_plain_unit *best(void)
{
    const struct mx_plain_unit *unit = mx_plain_units;

    while (!unit->usable())
        unit++;
    mx_plain_use(unit);
    return unit;
}

static const unsigned char *choose(const unsigned char *at, const unsigned char *end)
{
    return best()->skip(at, end);
}

static const unsigned char *choose_nested(const unsigned char *at, const unsigned char *end)
{
    return best()->nested(at, end);
}

const unsigned char *mx_plain_skip(const unsigned char *at, const unsigned char *end)
{
    return atomic_load_explicit(&chosen, memory_order_relaxed)(at, end);
}

const unsigned char *mx_nested_skip(const unsigned char *at, const unsigned char *end)
{
    return atomic_load_explicit(&chosen_nested, memory_order_relaxed)(at, end);
}
