/*
 * config_names.c - finding rows by JSON pointer, and writing their names and types in words.
 * Some fifty rows are searched from end to end: a configuration is read once.
 */
#include "router/policy/settings.h"

enum fit { FIT_NONE, FIT_EXACT, FIT_ABOVE };

/* How a pointer lies to a row: at it, above it, or elsewhere. */
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

static void write_range(const struct setting *row, struct mcpx_text *out)
{
    mcpx_text_number(out, row->min);
    mcpx_text_puts(out, "..");
    mcpx_text_number(out, row->max);
}

static void write_choices(const struct setting *row, struct mcpx_text *out)
{
    for (size_t i = 0; row->choices[i]; i++) {
        mcpx_text_puts(out, i > 0 ? ", \"" : "\"");
        mcpx_text_puts(out, row->choices[i]);
        mcpx_text_puts(out, "\"");
    }
}

static void write_counted(const struct setting *row, const char *before, const char *after,
                          struct mcpx_text *out)
{
    mcpx_text_puts(out, before);
    write_range(row, out);
    mcpx_text_puts(out, after);
}

void setting_write_expected(const struct setting *row, struct mcpx_text *out)
{
    switch (row->type) {
    case SETTING_BOOL:
        mcpx_text_puts(out, "true or false");
        break;
    case SETTING_INTEGER:
        write_counted(row, "an integer ", "", out);
        if (*row->zero) {
            mcpx_text_puts(out, " (0 = ");
            mcpx_text_puts(out, row->zero);
            mcpx_text_puts(out, ")");
        }
        break;
    case SETTING_CHOICE:
    case SETTING_ALG:
        mcpx_text_puts(out, "one of ");
        write_choices(row, out);
        break;
    case SETTING_STRING:
    case SETTING_SECRET:
        write_counted(row, "a string of ", " bytes", out);
        break;
    case SETTING_SHA256:
        mcpx_text_puts(out, "the 64 hexadecimal digits of a SHA-256");
        break;
    case SETTING_LATER:
        mcpx_text_puts(out, "\"\" (not supported yet by this version)");
        break;
    case SETTING_STRINGS:
        write_counted(row, "a list of ", " strings", out);
        break;
    case SETTING_PATTERNS:
        write_counted(row, "a list of ", " capability patterns", out);
        break;
    case SETTING_GRANTS:
        write_counted(row, "a list of ", " grants", out);
        break;
    case SETTING_LIST:
        write_counted(row, "a list of ", " objects", out);
        break;
    case SETTING_MAP:
        write_counted(row, "an object of ", " members", out);
        break;
    }
}
