/*
 * member.c - names of top-level members, compared as what they stand for rather than as they
 * are written: "k\u0069nd" is kind. Names without escapes and without a rival of the same
 * length, first and last byte cost one table lookup; everything else is fingerprinted once, so
 * that 64 long, escaped, nearly equal names cost no more than reading them a few times.
 */
#include "lib/core/escape.h"
#include "lib/core/scan.h"

static bool same_name(const struct mx_member *a, const struct mx_member *b)
{
    if (!a->name_escaped && !b->name_escaped)
        return mcpx_slice_equal(a->name, b->name);
    return mx_inside_compare(a->name, b->name) == 0;
}

bool mx_member_is(const struct mx_member *member, const char *name)
{
    struct mcpx_slice text = mcpx_slice_of(name);

    return member->name_escaped ? mx_inside_is(member->name, text)
                                : mcpx_slice_equal(member->name, text);
}

/* FNV-1a over the unescaped bytes. */
static uint64_t fingerprint(const struct mx_member *member)
{
    struct mx_inside walk = mx_inside_start(member->name);
    uint64_t hash = UINT64_C(14695981039346656037);
    int byte;

    while ((byte = mx_inside_next(&walk)) >= 0)
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
