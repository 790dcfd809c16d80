/*
 * config_names.c - finding rows by JSON pointer, and writing their names and types in words.
 * Some fifty rows are searched from end to end: a configuration is read once.
 */
#include "lib/core/format.h"
#include "router/policy/settings.h"

enum fit { FIT_NONE, FIT_EXACT, FIT_ABOVE };

/* The place of a pointer relative to a row: at it, above it, or elsewhere. */
static enum fit fit_of(const char *row, const char *pointer)
{
    while (*pointer && *row) {
        size_t want = strcspn(row + 1, "/");
        size_t have = strcspn(pointer + 1, "/");
        bool any = want == 1 && row[1] == '*';

        if (!any && (want != have || memcmp(row + 1, pointer + 1, want) != 0))
            return FIT_NONE;
        row += 1 + want;
        pointer += 1 + have;
    }
    if (*pointer)
        return FIT_NONE;
    return *row ? FIT_ABOVE : FIT_EXACT;
}

const struct setting *settings_find(const char *pointer)
{
    size_t count;
    const struct setting *table = settings_table(&count);

    for (size_t i = 0; i < count; i++) {
        if (fit_of(table[i].pointer, pointer) == FIT_EXACT)
            return &table[i];
    }
    return NULL;
}

bool settings_has_section(const char *pointer)
{
    size_t count;
    const struct setting *table = settings_table(&count);

    for (size_t i = 0; i < count; i++) {
        if (fit_of(table[i].pointer, pointer) == FIT_ABOVE)
            return true;
    }
    return false;
}

static size_t depth_of(const char *pointer)
{
    size_t depth = 0;

    for (; *pointer; pointer++)
        depth += *pointer == '/';
    return depth;
}

/* The segment of a row's pointer at a depth; segments are counted from 0. */
static struct mcpx_slice segment_at(const char *pointer, size_t depth)
{
    for (; depth > 0; depth--)
        pointer += 1 + strcspn(pointer + 1, "/");
    return (struct mcpx_slice){pointer + 1, strcspn(pointer + 1, "/")};
}

void settings_write_names(const char *section, struct mcpx_text *out)
{
    size_t depth = depth_of(section);
    struct mcpx_slice last = {NULL, 0};
    size_t count;
    const struct setting *table = settings_table(&count);

    for (size_t i = 0; i < count; i++) {
        struct mcpx_slice name;

        if (fit_of(table[i].pointer, section) != FIT_ABOVE)
            continue;
        name = segment_at(table[i].pointer, depth);
        if (mcpx_slice_equal(name, last) || mcpx_slice_equal(name, MCPX_SLICE("*")))
            continue; /* rows of one section stand together */
        if (last.text)
            mcpx_text_puts(out, ", ");
        mcpx_text_slice(out, name);
        last = name;
    }
}

void setting_write_variable(const struct setting *row, struct mcpx_text *out)
{
    if (row->type == SETTING_MAP || row->type == SETTING_LIST || strpbrk(row->pointer, "*$"))
        return;
    mcpx_text_puts(out, "MCPX");
    for (const char *at = row->pointer; *at; at++) {
        char upper = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;

        if (upper == '/')
            upper = '_';
        mcpx_text_add(out, &upper, 1);
    }
}

static void write_choices(const struct setting *row, struct mcpx_text *out)
{
    for (size_t i = 0; row->choices[i]; i++)
        mx_format(out, i > 0 ? ", %q" : "%q", row->choices[i]);
}

void setting_write_expected(const struct setting *row, struct mcpx_text *out)
{
    switch (row->type) {
    case SETTING_BOOL:
        mcpx_text_puts(out, "true or false");
        break;
    case SETTING_INTEGER:
        mx_format(out, "an integer %s..%s", row->min, row->max);
        if (*row->zero)
            mx_format(out, " (0 = %s)", row->zero);
        break;
    case SETTING_CHOICE:
    case SETTING_ALG:
        mcpx_text_puts(out, "one of ");
        write_choices(row, out);
        break;
    case SETTING_STRING:
    case SETTING_SECRET:
        mx_format(out, "a string of %s..%s bytes", row->min, row->max);
        break;
    case SETTING_SHA256:
        mcpx_text_puts(out, "the 64 hexadecimal digits of a SHA-256");
        break;
    case SETTING_LATER:
        mcpx_text_puts(out, "\"\" (not supported yet by this version)");
        break;
    case SETTING_STRINGS:
        mx_format(out, "a list of %s..%s strings", row->min, row->max);
        break;
    case SETTING_PATTERNS:
        mx_format(out, "a list of %s..%s capability patterns", row->min, row->max);
        break;
    case SETTING_GRANTS:
        mx_format(out, "a list of %s..%s grants", row->min, row->max);
        break;
    case SETTING_LIST:
        mx_format(out, "a list of %s..%s objects", row->min, row->max);
        break;
    case SETTING_MAP:
        mx_format(out, "an object of %s..%s members", row->min, row->max);
        break;
    }
}
