/*
 * json.c - looking into a well-formed JSON text without building values. A walk passes over one
 * member or item at a time. Inside a value it only counts brackets: in an accepted text each is
 * closed by its own kind. So a lookup costs one pass and no memory, and finds the sender's bytes.
 * Rejected: a tree; it costs an allocation per value and forgets how a number was written. In an
 * invalid text a walk ends early and never reads beyond the end.
 *
 * Equality of values: members may stand in any order, so those of both objects are listed, sorted
 * by unescaped name and compared in pairs. Rejected: looking each member up in the other object; it
 * needs no memory, but one message could make it take minutes.
 *
 * An object written again with a few members changed is `{`, pieces with commas between them,
 * `}`; a piece is one member with the white space on both of its sides. Pieces are dropped, or
 * copied with another value in them, or added, so all other bytes stay the sender's. Rejected:
 * reading and writing values; that rounds numbers and drops repeated members.
 */
#include <mcpx/json.h>

#include "lib/base/digits.h"
#include "lib/base/fault.h"
#include "lib/json/decisive.h"
#include "lib/json/escape.h"
#include "lib/json/json_write.h"
#include "lib/json/scan.h"

#include <stdlib.h>

/* ---- names without letter case ---- */

/* Go's encoding/json, .NET's web defaults, Newtonsoft, cJSON and Java's equalsIgnoreCase take
 * "Name" for name, the first of them "\u212aind" for kind as well; the last of two such members
 * wins. Every decisive name is ASCII, so four characters of Unicode's tables are enough: those
 * outside ASCII that fold into it. A test compares them with another program's tables. Rejected:
 * tables of all 1,400 foldings; no answer would change. */

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

/* The letter of a character with the first byte `lead`; takes its other bytes from the walk. */
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
        if (mx_lower(byte) != mx_lower(*name))
            return MX_UNLIKE;
        likeness = MX_LIKE;
    }
    byte = mx_inside_next(&inside);
    if (byte < 0)
        return likeness;
    return byte == 0 ? MX_LIKE : MX_UNLIKE;
}

/* ---- walks ---- */

enum mcpx_json_type mcpx_json_type(struct mcpx_slice value)
{
    return value.len ? mx_type_of((unsigned char)value.text[0]) : MCPX_JSON_ABSENT;
}

enum mcpx_err mcpx_json_check(struct mcpx_slice text, size_t depth_max,
                              struct mcpx_slice *value, struct mcpx_fault *fault)
{
    struct mx_scan scan;
    enum mcpx_err err = mx_scan(text, depth_max, &scan, fault);

    if (err == MCPX_OK)
        *value = scan.value;
    return err;
}

static const unsigned char *skip_value(struct mx_reader *reader, const unsigned char *at)
{
    if (at < reader->end && (*at == '{' || *at == '['))
        return mx_nested_skip(at, reader->end);
    return mx_scalar_skip(reader, at);
}

static const struct mcpx_slice absent;

/* Passes over `"name":`, noting the name, and the white space after it; NULL when it cannot. */
static const unsigned char *read_name(struct mcpx_json_walk *walk, struct mx_reader *reader,
                                      const unsigned char *at)
{
    const unsigned char *end;

    if (at == reader->end || *at != '"')
        return NULL;
    end = mx_string_pass(reader, at + 1);
    if (!end)
        return NULL;
    walk->name = mx_between(at + 1, end - 1);
    at = mx_space_skip(end, reader->end);
    if (at == reader->end || *at != ':')
        return NULL;
    return mx_space_skip(at + 1, reader->end);
}

void mcpx_json_walk_start(struct mcpx_json_walk *walk, struct mcpx_slice value)
{
    enum mcpx_json_type type = mcpx_json_type(value);

    *walk = (struct mcpx_json_walk){absent, absent, NULL, NULL};
    if (type == MCPX_JSON_OBJECT || type == MCPX_JSON_ARRAY) {
        walk->at = value.text;
        walk->end = value.text + value.len;
    }
}

static bool walk_over(struct mcpx_json_walk *walk)
{
    walk->name = walk->value = absent;
    walk->at = NULL;
    return false;
}

/* `at` is the opening bracket or the comma before the next value; later, the byte behind one. */
bool mcpx_json_walk_next(struct mcpx_json_walk *walk)
{
    struct mx_reader reader = {.end = (const unsigned char *)walk->end};
    const unsigned char *at = (const unsigned char *)walk->at, *end;
    bool in_object;

    if (!at || at == reader.end || *at == '}' || *at == ']')
        return walk_over(walk);
    /* the closing bracket, which a well-formed text ends with, tells the two apart */
    in_object = walk->end[-1] == '}';
    at = mx_space_skip(at + 1, reader.end);
    if (in_object)
        at = read_name(walk, &reader, at);
    end = at ? skip_value(&reader, at) : NULL;
    if (!end)
        return walk_over(walk);
    walk->value = mx_between(at, end);
    walk->at = (const char *)mx_space_skip(end, reader.end);
    return true;
}

bool mcpx_json_walk_at(const struct mcpx_json_walk *walk, const char *name)
{
    return walk->name.text && mx_inside_is(walk->name, mcpx_slice_of(name));
}

struct mcpx_slice mcpx_json_get(struct mcpx_slice object, const char *name)
{
    MCPX_JSON_EACH(walk, object)
        if (mcpx_json_walk_at(&walk, name))
            return walk.value;
    return absent;
}

size_t mcpx_json_length(struct mcpx_slice value)
{
    size_t count = 0;

    MCPX_JSON_EACH(walk, value)
        count++;
    return count;
}

size_t mcpx_json_count(struct mcpx_slice object, const char *name)
{
    size_t count = 0;

    MCPX_JSON_EACH(walk, object)
        count += mcpx_json_walk_at(&walk, name);
    return count;
}

size_t mcpx_json_count_like(struct mcpx_slice object, const char *name)
{
    size_t count = 0;

    MCPX_JSON_EACH(walk, object)
        count += walk.name.text && mx_fold_compare(walk.name, name) != MX_UNLIKE;
    return count;
}

/* One walk for all members of interest, instead of one for each. Some readers keep the first of two
 * members of a name and some the last, some look at letter case and some do not; a decisive member
 * must be the same for all of them. */
static bool refuse_member(struct mcpx_fault *fault, const char *reason, const char *name)
{
    mx_fault_set(fault, reason, name, 0);
    return false;
}

/* The member of the same or a like name as the walk's; `count` when there is none. */
static size_t member_at(const struct mcpx_json_walk *walk, const struct mx_decisive *members,
                        size_t count, enum mx_likeness *likeness)
{
    size_t i = 0;

    while (i < count &&
           (*likeness = mx_fold_compare(walk->name, members[i].name)) == MX_UNLIKE)
        i++;
    return i;
}

bool mx_decisive_find(struct mcpx_slice object, struct mx_decisive *members, size_t count,
                      struct mcpx_fault *fault)
{
    enum mx_likeness likeness;

    for (size_t i = 0; i < count; i++)
        members[i].value = (struct mcpx_slice){NULL, 0};
    if (mcpx_json_type(object) != MCPX_JSON_OBJECT)
        return true;
    MCPX_JSON_EACH(walk, object) {
        size_t i = member_at(&walk, members, count, &likeness);

        if (i == count)
            continue;
        if (likeness == MX_LIKE)
            return refuse_member(
                fault,
                "a member is named like this one but for letter case: some readers "
                "would take it for this one",
                members[i].name);
        if (members[i].value.text)
            return refuse_member(fault, "this member stands twice", members[i].name);
        members[i].value = walk.value;
    }
    return true;
}

bool mcpx_json_equals(struct mcpx_slice value, struct mcpx_slice text)
{
    return mcpx_json_type(value) == MCPX_JSON_STRING &&
           mx_inside_is(mx_inside_of(value), text);
}

enum mcpx_err mx_error_named(struct mcpx_slice string)
{
    for (enum mcpx_err err = MCPX_OK + 1; err < MCPX_ERR_COUNT; err++)
        if (mcpx_json_equals(string, mcpx_slice_of(mcpx_error_wire(err))))
            return err;
    return MCPX_OK;
}

bool mcpx_json_add_unescaped(struct mcpx_text *out, struct mcpx_slice value)
{
    size_t len;
    bool whole;

    if (mcpx_json_type(value) != MCPX_JSON_STRING)
        return false;
    if (!mcpx_text_reserve(out, value.len))
        return true;
    whole = mx_unescape(mx_inside_of(value), out->text + out->len, &len);
    if (whole)
        out->len += len;
    out->text[out->len] = '\0';
    return whole;
}

/* ---- the same? ---- */

/* Nesting up to which values are compared; the sender chooses the nesting, the stack is ours. */
enum { DEPTH_MAX = 512 };

struct listed {
    struct mcpx_slice name;
    struct mcpx_slice value;
};

static bool same(struct mcpx_slice a, struct mcpx_slice b, size_t depth);

static int by_name(const void *a, const void *b)
{
    return mx_inside_compare(((const struct listed *)a)->name,
                             ((const struct listed *)b)->name);
}

/* Lists the members in order of their names, each name once. */
static bool list_members(struct mcpx_slice object, struct listed *list, size_t count)
{
    size_t filled = 0;

    MCPX_JSON_EACH_WHILE(filled < count, walk, object)
        list[filled++] = (struct listed){walk.name, walk.value};
    qsort(list, count, sizeof *list, by_name);
    for (size_t i = 1; i < count; i++)
        if (by_name(&list[i - 1], &list[i]) == 0)
            return false;
    return true;
}

static bool same_members(struct mcpx_slice a, struct mcpx_slice b, size_t depth)
{
    size_t count = mcpx_json_length(a);
    struct listed *in_a, *in_b;
    bool answer;

    if (count != mcpx_json_length(b))
        return false;
    if (count == 0)
        return true;
    in_a = calloc(count * 2, sizeof *in_a);
    if (!in_a)
        return false;
    in_b = in_a + count;
    answer = list_members(a, in_a, count) && list_members(b, in_b, count);
    for (size_t i = 0; answer && i < count; i++)
        answer =
            by_name(&in_a[i], &in_b[i]) == 0 && same(in_a[i].value, in_b[i].value, depth + 1);
    free(in_a);
    return answer;
}

static bool same_items(struct mcpx_slice a, struct mcpx_slice b, size_t depth)
{
    struct mcpx_json_walk in_a = mcpx_json_walk_of(a), in_b = mcpx_json_walk_of(b);
    bool more;

    do {
        more = mcpx_json_walk_next(&in_a);
        if (more != mcpx_json_walk_next(&in_b) ||
            (more && !same(in_a.value, in_b.value, depth + 1)))
            return false;
    } while (more);
    return true;
}

static bool same(struct mcpx_slice a, struct mcpx_slice b, size_t depth)
{
    enum mcpx_json_type type = mcpx_json_type(a);

    if (mcpx_slice_equal(a, b))
        return true;
    if (type != mcpx_json_type(b) || depth >= DEPTH_MAX)
        return false;
    if (type == MCPX_JSON_OBJECT)
        return same_members(a, b, depth);
    if (type == MCPX_JSON_ARRAY)
        return same_items(a, b, depth);
    /* comparing the quotes as well does no harm */
    return type == MCPX_JSON_STRING && mx_inside_compare(a, b) == 0;
}

bool mcpx_json_same(struct mcpx_slice a, struct mcpx_slice b)
{
    return same(a, b, 0);
}

/* ---- changed ---- */

/* The object being written. `tail` is the white space after the last piece, not yet written. */
struct edit {
    struct mcpx_text *out;
    const struct mcpx_json_change *changes;
    size_t count;
    uint64_t made; /* bit i: change i has been made */
    bool any;      /* a piece has been written */
    struct mcpx_slice tail;
};

/* The change requested for the walk's member; `count` when there is none. */
static size_t change_at(const struct edit *edit, const struct mcpx_json_walk *walk)
{
    size_t i = 0;

    while (i < edit->count && !mcpx_json_walk_at(walk, edit->changes[i].name))
        i++;
    return i;
}

/* The white space after the last piece now stands before this one. */
static void put_separator(struct edit *edit)
{
    mcpx_text_slice(edit->out, edit->tail);
    if (edit->any)
        mcpx_text_add(edit->out, ",", 1);
    edit->any = true;
}

/* Writes the walk's member, or not; `from` is where its piece begins. */
static void put_piece(struct edit *edit, const struct mcpx_json_walk *walk, const char *from)
{
    struct mcpx_slice value = walk->value;
    size_t i = change_at(edit, walk);

    if (i < edit->count && !edit->changes[i].value.text)
        return;
    if (i < edit->count && !(edit->made >> i & 1)) {
        value = edit->changes[i].value;
        edit->made |= UINT64_C(1) << i;
    }
    put_separator(edit);
    mcpx_text_slice(edit->out, mx_between(from, walk->value.text));
    mcpx_text_slice(edit->out, value);
    edit->tail = mx_between(walk->value.text + walk->value.len, walk->at);
}

void mcpx_json_add_changed(struct mcpx_text *out, struct mcpx_slice object,
                           const struct mcpx_json_change *changes, size_t count)
{
    struct edit edit = {.out = out, .changes = changes, .count = count};
    struct mcpx_json_walk walk;
    const char *from;

    if (mcpx_json_type(object) != MCPX_JSON_OBJECT)
        object = MCPX_SLICE("{}");
    from = object.text + 1;
    mcpx_json_walk_start(&walk, object);
    mcpx_text_add(out, "{", 1);
    while (mcpx_json_walk_next(&walk)) {
        put_piece(&edit, &walk, from);
        from = walk.at + 1; /* behind the comma, or the last brace */
    }
    if (from == object.text + 1) /* there was no member */
        edit.tail = mx_between(from, object.text + object.len - 1);
    for (size_t i = 0; i < count; i++)
        if (changes[i].value.text && !(edit.made >> i & 1))
            mx_json_add_raw(out, changes[i].name, changes[i].value);
    mcpx_text_slice(out, edit.tail);
    mcpx_text_add(out, "}", 1);
}
