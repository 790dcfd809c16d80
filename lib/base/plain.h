/*
 * plain.h - passes over bytes without special meaning. Short runs go byte by byte, long ones
 * through the vector unit of the machine (plain.c chooses), whole texts eight at a time.
 */
#ifndef MX_PLAIN_H
#define MX_PLAIN_H

#include <mcpx/base.h>

/** The number of bytes that mx_plain_short looks at; a multiple of 4. */
#define MX_PLAIN_SHORT 12

/** True for plain bytes; see mx_plain_skip. */
extern const bool mx_is_plain[256];

/**
 * The first byte from `at` on that is not plain: a quote, a backslash, a control character below
 * 0x20, or any byte from 0x80 on. Returns `end` when all are plain. Reads nothing from `end` on.
 */
const unsigned char *mx_plain_skip(const unsigned char *at, const unsigned char *end);

/**
 * The place behind the bracket that closes the one at `at`, in a text accepted by mx_scan; NULL
 * when an invalid text ends before. Reads nothing from `end` on.
 */
const unsigned char *mx_nested_skip(const unsigned char *at, const unsigned char *end);

/** A way to do mx_plain_skip, or mx_nested_skip. */
typedef const unsigned char *mx_plain_skipper(const unsigned char *at,
                                              const unsigned char *end);

/** A way to do both. */
struct mx_plain_unit {
    const char *name; /* for tests */
    /* False on a machine that lacks the instructions. */
    bool (*usable)(void);
    mx_plain_skipper *skip;   /* mx_plain_skip, done this way */
    mx_plain_skipper *nested; /* mx_nested_skip */
};

/** The units of this architecture, the fastest first; the last is usable everywhere. */
extern const struct mx_plain_unit mx_plain_units[];
extern const size_t mx_plain_unit_count;

/** Makes both use the unit; it must be usable. Tests only: programs choose automatically. */
void mx_plain_use(const struct mx_plain_unit *unit);

/** mx_plain_skip in standard C, as the last unit does it. */
mx_plain_skipper mx_plain_portable;

/** mx_plain_skip that gives up after MX_PLAIN_SHORT bytes, or sooner where the end is near. */
static inline const unsigned char *mx_plain_short(const unsigned char *at,
                                                  const unsigned char *end)
{
    if (end - at < MX_PLAIN_SHORT)
        return at;
    for (const unsigned char *stop = at + MX_PLAIN_SHORT; at < stop; at += 4) {
        if (!mx_is_plain[at[0]])
            return at;
        if (!mx_is_plain[at[1]])
            return at + 1;
        if (!mx_is_plain[at[2]])
            return at + 2;
        if (!mx_is_plain[at[3]])
            return at + 3;
    }
    return at;
}

#define MX_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight bytes, the first one lowest whatever the machine; compilers make one load of it. */
static inline uint64_t mx_plain_load(const unsigned char *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 |
           (uint64_t)at[3] << 24 | (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 |
           (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

/** The first byte from `at` on that is not ASCII, or `end`. */
static inline const unsigned char *mx_plain_ascii(const unsigned char *at,
                                                  const unsigned char *end)
{
    while (end - at >= 8 && !(mx_plain_load(at) & MX_EACH_BYTE(0x80)))
        at += 8;
    while (at < end && *at < 0x80)
        at++;
    return at;
}

#endif
