/*
 * config_names.c - finding rows by JSON pointer, and writing their names and types in words.
 * The rows are searched from end to end: they are fewer than a hundred.
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

/* The first row to which the pointer has this place; NULL when there is none. */
static const struct setting *find(const char *pointer, enum fit fit)
{
    for (const struct setting *row = settings_table; row->pointer; row++)
        if (fit_of(row->pointer, pointer) == fit)
            return row;
    return NULL;
}

const struct setting *settings_find(const char *pointer)
{
    return find(pointer, FIT_EXACT);
}

bool settings_has_section(const char *pointer)
{
    return find(pointer, FIT_ABOVE) != NULL;
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

    for (const struct setting *row = settings_table; row->pointer; row++) {
        struct mcpx_slice name;

        if (fit_of(row->pointer, section) != FIT_ABOVE)
            continue;
        name = segment_at(row->pointer, depth);
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

/* What a value of each type has to be: these words, or with `end` "BEGIN MIN..MAX END". */
static const struct {
    const char *begin, *end;
} words[] = {
    [SETTING_BOOL] = {"true or false", NULL},
    [SETTING_INTEGER] = {"an integer ", ""},
    [SETTING_CHOICE] = {"one of ", NULL},
    [SETTING_STRING] = {"a string of ", " bytes"},
    [SETTING_SECRET] = {"a string of ", " bytes"},
    [SETTING_SHA256] = {"the 64 hexadecimal digits of a SHA-256", NULL},
    [SETTING_LATER] = {"\"\" (not supported yet by this version)", NULL},
    [SETTING_STRINGS] = {"a list of ", " strings"},
    [SETTING_PATTERNS] = {"a list of ", " capability patterns"},
    [SETTING_GRANTS] = {"a list of ", " grants"},
    [SETTING_MAP] = {"an object of ", " members"},
    [SETTING_LIST] = {"a list of ", " objects"},
};

void setting_write_expected(const struct setting *row, struct mcpx_text *out)
{
    mcpx_text_puts(out, words[row->type].begin);
    if (words[row->type].end)
        mx_format(out, "%s..%s%s", row->min, row->max, words[row->type].end);
    if (*row->zero)
        mx_format(out, " (0 = %s)", row->zero);
    for (size_t i = 0; row->choices && row->choices[i]; i++)
        mx_format(out, i > 0 ? ", %q" : "%q", row->choices[i]);
}
