/*
 * scan.c - one pass over a JSON text. scan_members walks the top level and notes positions;
 * skip_value passes over everything below it. One bit on the C stack for each open bracket tells
 * whether `}` or `]` closes it: a text nested 65,536 deep costs 8 KiB there, a flat one nothing.
 * Most messages hold no white space, so the byte that usually comes next is looked for first.
 * Rejected: a value tree, an allocation per value, loses the sender's bytes; recursion, the sender
 * would choose our stack depth.
 *
 * Names of members are compared unescaped: "k\u0069nd" is kind. Names without escapes and without a
 * rival of the same length, first and last byte cost one table lookup; everything else is
 * fingerprinted once, so that 64 long, escaped, nearly equal names cost no more than reading them a
 * few times.
 */
#include "lib/json/scan.h"

#include "lib/base/fault.h"
#include "lib/json/escape.h"

/* Open brackets. The lowest bit of `kinds` is set when the innermost one is a brace, the next bit
 * belongs to the one around it, and so on: as many as depth is beyond the last multiple of 64. The
 * bits of the outer ones are in `saved`. */
struct nesting {
    size_t depth;
    size_t depth_max; /* at most MX_DEPTH_MAX */
    uint64_t kinds;
    uint64_t *saved;
};

static inline bool nesting_enter(struct nesting *nesting, bool is_object)
{
    if (nesting->depth >= nesting->depth_max)
        return false;
    if ((nesting->depth & 63) == 0)
        nesting->saved[nesting->depth >> 6] = nesting->kinds;
    nesting->kinds = nesting->kinds << 1 | is_object;
    nesting->depth++;
    return true;
}

static inline void nesting_leave(struct nesting *nesting)
{
    nesting->depth--;
    nesting->kinds >>= 1;
    if ((nesting->depth & 63) == 0)
        nesting->kinds = nesting->saved[nesting->depth >> 6];
}

static inline bool nesting_in_object(const struct nesting *nesting)
{
    return nesting->kinds & 1;
}

/* The byte at `at`; 0, which begins nothing in JSON, where the text ends. */
static inline unsigned char byte_at(const struct mx_reader *reader, const unsigned char *at)
{
    return at < reader->end ? *at : 0;
}

/* mx_space_skip, quicker where `usual` stands at once, as it does in texts without any space. */
static inline const unsigned char *pass_space(const struct mx_reader *reader,
                                              const unsigned char *at, unsigned char usual)
{
    return byte_at(reader, at) == usual ? at : mx_space_skip(at, reader->end);
}

static const unsigned char *refuse_name(struct mx_reader *reader, const unsigned char *at)
{
    if (at == reader->end)
        return mx_reader_refuse(reader, at, "text ends where a member name was expected");
    if (*at == '}')
        return mx_reader_refuse(reader, at, "expected a member name between ',' and '}'");
    return mx_reader_refuse(reader, at, "expected a member name in double quotes");
}

/* Passes over `"name"`, leaving white space and colon. */
static inline const unsigned char *skip_name(struct mx_reader *reader, const unsigned char *at)
{
    return byte_at(reader, at) == '"' ? mx_string_pass(reader, at + 1)
                                      : refuse_name(reader, at);
}

static const unsigned char *refuse_colon(struct mx_reader *reader, const unsigned char *at)
{
    return mx_reader_refuse(reader, at,
                            at == reader->end ? "text ends where a ':' was expected"
                                              : "expected ':' after a member name");
}

/* Passes over the colon and the white space around it. */
static inline const unsigned char *skip_colon(struct mx_reader *reader,
                                              const unsigned char *at)
{
    at = pass_space(reader, at, ':');
    return byte_at(reader, at) == ':' ? mx_space_skip(at + 1, reader->end)
                                      : refuse_colon(reader, at);
}

static const unsigned char *refuse_next(struct mx_reader *reader, const unsigned char *at,
                                        bool in_object)
{
    if (at == reader->end)
        return mx_reader_refuse(reader, at,
                                in_object ? "text ends inside an object"
                                          : "text ends inside an array");
    return mx_reader_refuse(reader, at,
                            in_object ? "expected ',' or '}' after a member"
                                      : "expected ',' or ']' after an element");
}

/* Passes over an opening bracket and, in an object, the name of the first member. */
static inline const unsigned char *open_bracket(struct mx_reader *reader,
                                                struct nesting *nesting,
                                                const unsigned char *at, bool *empty)
{
    unsigned char bracket = *at;

    if (!nesting_enter(nesting, bracket == '{'))
        return mx_reader_refuse(reader, at, "nesting is deeper than the limit");
    at = pass_space(reader, at + 1, '"');
    *empty = byte_at(reader, at) == bracket + 2; /* so it is in ASCII */
    if (*empty || bracket == '[')
        return at;
    at = skip_name(reader, at);
    return at ? skip_colon(reader, at) : NULL;
}

/* After a value: passes over brackets that close, and over a comma (and name) if one follows. */
static inline const unsigned char *close_brackets(struct mx_reader *reader,
                                                  struct nesting *nesting,
                                                  const unsigned char *at, size_t floor)
{
    while (nesting->depth > floor) {
        bool in_object = nesting_in_object(nesting);

        at = pass_space(reader, at, ',');
        if (byte_at(reader, at) == ',') {
            at = pass_space(reader, at + 1, '"');
            if (!in_object)
                return at;
            at = skip_name(reader, at);
            return at ? skip_colon(reader, at) : NULL;
        }
        if (byte_at(reader, at) != (in_object ? '}' : ']'))
            return refuse_next(reader, at, in_object);
        nesting_leave(nesting);
        at++;
    }
    return at;
}

/* Passes over the value at `at`, of any type and depth. */
static const unsigned char *skip_value(struct mx_reader *reader, struct nesting *outer,
                                       const unsigned char *at)
{
    struct nesting nesting = *outer; /* a copy can live in registers */
    bool empty = false;

    do {
        unsigned char byte = byte_at(reader, at);

        if (byte == '"') {
            at = mx_string_pass(reader, at + 1);
        } else if (byte == '{' || byte == '[') {
            at = open_bracket(reader, &nesting, at, &empty);
            if (at && !empty)
                continue;
        } else {
            at = mx_scalar_skip(reader, at);
        }
        if (at)
            at = close_brackets(reader, &nesting, at, outer->depth);
    } while (at && nesting.depth > outer->depth);
    return at;
}

/* Passes over one member of the top-level object, whose name begins at `at`, and notes it. */
static const unsigned char *scan_member(struct mx_reader *reader, struct nesting *nesting,
                                        const unsigned char *at, struct mx_scan *out)
{
    struct mx_member member;
    const unsigned char *begin = at;

    reader->escaped = false;
    at = skip_name(reader, at);
    if (!at)
        return NULL;
    member.name = mx_between(begin + 1, at - 1);
    member.name_escaped = reader->escaped;
    begin = skip_colon(reader, at);
    if (!begin)
        return NULL;
    reader->escaped = false;
    at = byte_at(reader, begin) == '"' ? mx_string_pass(reader, begin + 1)
                                       : skip_value(reader, nesting, begin);
    if (!at)
        return NULL;
    member.value = mx_between(begin, at);
    member.type = mx_type_of(*begin);
    member.value_escaped = reader->escaped;
    if (out->count < MCPX_MEMBERS_MAX)
        out->members[out->count++] = member;
    out->total++;
    return at;
}

/* Passes over the top-level object; `at` is its opening brace. */
static const unsigned char *scan_members(struct mx_reader *reader, struct nesting *nesting,
                                         const unsigned char *at, struct mx_scan *out)
{
    nesting->depth = 1; /* its bit is never asked for */
    at = mx_space_skip(at + 1, reader->end);
    if (at < reader->end && *at == '}')
        return at + 1;
    for (;;) {
        at = scan_member(reader, nesting, at, out);
        if (!at)
            return NULL;
        at = mx_space_skip(at, reader->end);
        if (byte_at(reader, at) == '}')
            return at + 1;
        if (byte_at(reader, at) != ',')
            return refuse_next(reader, at, true);
        at = mx_space_skip(at + 1, reader->end);
    }
}

/* Reports the error of the text; invalid UTF-8 comes before every other error. */
static enum mcpx_err refuse_text(struct mcpx_slice text, const struct mx_reader *reader,
                                 struct mcpx_fault *fault)
{
    size_t offset = (size_t)(reader->fault_at - (const unsigned char *)text.text);

    if (mx_utf8_is_valid(text, &offset))
        return mx_fault_set(fault, reader->reason, "", offset);
    mx_fault_set(fault, "expected UTF-8, found bytes that are none", "", offset);
    return MCPX_EUTF8;
}

enum mcpx_err mx_scan(struct mcpx_slice text, size_t depth_max, struct mx_scan *out,
                      struct mcpx_fault *fault)
{
    const unsigned char *first = (const unsigned char *)(text.text ? text.text : "");
    struct mx_reader reader = {.end = first + text.len};
    uint64_t saved[MX_DEPTH_MAX / 64 + 1];
    struct nesting nesting = {.saved = saved};
    const unsigned char *begin, *at;

    nesting.depth_max = depth_max && depth_max < MX_DEPTH_MAX ? depth_max : MX_DEPTH_MAX;
    out->count = 0;
    out->total = 0;
    begin = mx_space_skip(first, reader.end);
    at = begin < reader.end && *begin == '{' ? scan_members(&reader, &nesting, begin, out)
                                             : skip_value(&reader, &nesting, begin);
    if (at) {
        out->value = mx_between(begin, at);
        at = mx_space_skip(at, reader.end);
        if (at < reader.end)
            at = mx_reader_refuse(&reader, at, "expected nothing after the JSON value");
    }
    if (!at)
        return refuse_text((struct mcpx_slice){(const char *)first, text.len}, &reader, fault);
    out->type = mx_type_of(*begin);
    return MCPX_OK;
}

/* ---- names ---- */

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
