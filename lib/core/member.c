/*
 * member.c - names of top-level members, compared as what they stand for rather than as they
 * are written: "k\u0069nd" is kind. Names without escapes and without a rival of the same
 * length, first and last byte cost one table lookup; everything else is fingerprinted once, so
 * that 64 long, escaped, nearly equal names cost no more than reading them a few times.
 * Includes scan.h and escape.h only.
 */
#include "lib/core/escape.h"
#include "lib/core/scan.h"

/* Walks through a name's unescaped bytes. */
struct walk {
    struct mcpx_slice raw;
    size_t at;
    struct mx_escape escape;
    size_t done; /* bytes of the escape already given */
};

static struct walk walk_from(const struct mx_member *member)
{
    struct walk walk;

    walk.raw = member->name;
    walk.at = 0;
    walk.escape.len = 0;
    walk.done = 0;
    return walk;
}

/* The next byte, 0..255, or -1 after the last. */
static int walk_next(struct walk *walk)
{
    if (walk->done < walk->escape.len)
        return (unsigned char)walk->escape.bytes[walk->done++];
    if (walk->at == walk->raw.len)
        return -1;
    if (walk->raw.text[walk->at] != '\\')
        return (unsigned char)walk->raw.text[walk->at++];
    mx_escape_decode(walk->raw, walk->at, &walk->escape);
    walk->at += walk->escape.raw_len;
    walk->done = 1;
    return (unsigned char)walk->escape.bytes[0];
}

static bool same_name(const struct mx_member *a, const struct mx_member *b)
{
    struct walk in_a, in_b;
    int byte;

    if (!a->name_escaped && !b->name_escaped)
        return mcpx_slice_equal(a->name, b->name);
    in_a = walk_from(a);
    in_b = walk_from(b);
    do {
        byte = walk_next(&in_a);
        if (byte != walk_next(&in_b))
            return false;
    } while (byte >= 0);
    return true;
}

bool mx_member_is(const struct mx_member *member, const char *name)
{
    size_t len = strlen(name);
    struct walk walk;

    if (!member->name_escaped)
        return member->name.len == len && memcmp(member->name.text, name, len) == 0;
    walk = walk_from(member);
    for (size_t i = 0; i < len; i++)
        if (walk_next(&walk) != (unsigned char)name[i])
            return false;
    return walk_next(&walk) < 0;
}

/* FNV-1a over the unescaped bytes. */
static uint64_t fingerprint(const struct mx_member *member)
{
    struct walk walk = walk_from(member);
    uint64_t hash = UINT64_C(14695981039346656037);
    int byte;

    while ((byte = walk_next(&walk)) >= 0)
        hash = (hash ^ (uint64_t)byte) * UINT64_C(1099511628211);
    return hash;
}

static const struct mx_member *find_duplicate(const struct mx_scan *scan)
{
    uint64_t prints[MCPX_MEMBERS_MAX];

    for (size_t i = 0; i < scan->count; i++) {
        prints[i] = fingerprint(&scan->members[i]);
        for (size_t j = 0; j < i; j++)
            if (prints[j] == prints[i] && same_name(&scan->members[j], &scan->members[i]))
                return &scan->members[i];
    }
    return NULL;
}

/* True when a glance at each name is enough to see that all differ. */
static bool differ_at_a_glance(const struct mx_scan *scan)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < scan->count; i++) {
        struct mcpx_slice name = scan->members[i].name;
        uint64_t slot = name.len;

        if (scan->members[i].name_escaped)
            return false;
        if (name.len > 0)
            slot += 5 * (uint64_t)(unsigned char)name.text[0] +
                    11 * (uint64_t)(unsigned char)name.text[name.len - 1];
        if (seen >> (slot & 63) & 1)
            return false;
        seen |= UINT64_C(1) << (slot & 63);
    }
    return true;
}

const struct mx_member *mx_scan_duplicate(const struct mx_scan *scan)
{
    return differ_at_a_glance(scan) ? NULL : find_duplicate(scan);
}
