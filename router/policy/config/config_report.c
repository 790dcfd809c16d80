/*
 * config_report.c - error and warning lines: place, found value, allowed values. A value is shown
 * only if it cannot be a secret. It is cut to a length that fits a line, and its control characters
 * are escaped, because the line may be shown on a terminal.
 */
#include "lib/json/escape.h"
#include "lib/json/json_write.h"
#include "lib/json/tree.h"
#include "lib/protocol/grammar.h"
#include "router/policy/config/settings.h"

enum { SHOWN_MAX = 64 };

/* Names come from the file: control characters of terminals are escaped. */
static void write_plain(struct mcpx_text *out, const char *text)
{
    struct mcpx_slice rest = mcpx_slice_of(text);

    while (rest.len > 0) {
        size_t plain = mx_control_find(rest);
        size_t after = plain;

        mcpx_text_add(out, rest.text, plain);
        /* the rest of the character: continuation bytes */
        while (after < rest.len &&
               (after == plain || ((unsigned char)rest.text[after] & 0xc0) == 0x80))
            mx_hex_add(out, "\\x", (unsigned char)rest.text[after++], 2);
        rest.text += after;
        rest.len -= after;
    }
}

struct mcpx_text *report_begin(struct loading *loading, enum report_sort sort,
                               const char *source, const char *pointer)
{
    struct mcpx_text *line = sort == REPORT_ERROR ? loading->errors : &loading->warnings;

    loading->faults += sort == REPORT_ERROR;
    write_plain(line, source);
    mcpx_text_puts(line, ": ");
    if (*pointer) {
        write_plain(line, pointer);
        mcpx_text_puts(line, ": ");
    }
    return line;
}

struct mcpx_text *report_begin_setting(struct loading *loading, enum report_sort sort,
                                       const char *setting, const char *at)
{
    enum setting_source source = settings_source(&loading->settings, setting);
    const char *file = loading->sources->file;
    mx_scoped_text variable = {0};

    if (source == FROM_FLAGS)
        return report_begin(loading, sort, "--listen", ""); /* no other flag is a setting */
    if (source != FROM_ENVIRONMENT)
        return report_begin(loading, sort, file ? file : "configuration", at);
    setting_write_variable(settings_find(setting), &variable);
    loading->no_memory |= variable.failed;
    return report_begin(loading, sort, variable.failed ? "" : variable.text, "");
}

void report_line(struct loading *loading, enum report_sort sort, const char *source,
                 const char *pointer, const char *sentence)
{
    mx_format(report_begin(loading, sort, source, pointer), "%s\n", sentence);
}

void report_rules(struct loading *loading, const struct report_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rules[i].is_so)
            mx_format(report_begin_setting(loading, rules[i].sort, rules[i].setting,
                                           rules[i].setting),
                      "%s\n", rules[i].sentence);
}

void report_here(struct loading *loading, enum report_sort sort, const char *sentence)
{
    report_line(loading, sort, loading->sources->file, pointer_text(loading), sentence);
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "object",   [JSON_ARRAY] = "list",  [JSON_STRING] = "string",
        [JSON_INTEGER] = "integer", [JSON_REAL] = "number", [JSON_TRUE] = "boolean",
        [JSON_FALSE] = "boolean",   [JSON_NULL] = "null",
    };

    return names[json_typeof(value)];
}

static void write_string(const json_t *value, struct mcpx_text *out)
{
    struct mcpx_slice text = json_slice(value);
    bool cut = text.len > SHOWN_MAX;

    if (cut) {
        text.len = SHOWN_MAX;
        while (text.len > 0 && ((unsigned char)text.text[text.len] & 0xc0) == 0x80)
            text.len--; /* not inside a character */
    }
    mx_format(out, cut ? "%q... (string)" : "%q (string)", text);
}

static void write_number(const json_t *value, struct mcpx_text *out)
{
    char text[40];
    size_t len =
        json_dumpb(value, text, sizeof text, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));

    mx_format(out, "%s (%s)", ((struct mcpx_slice){text, len < sizeof text ? len : 0}),
              type_name(value));
}

void found_write(const json_t *value, bool hidden, struct mcpx_text *out)
{
    mcpx_text_puts(out, "found ");
    if (!value)
        mcpx_text_puts(out, "text that is not UTF-8");
    else if (json_is_object(value))
        mx_format(out, "an object of %s members", json_object_size(value));
    else if (json_is_array(value))
        mx_format(out, "a list of %s entries", json_array_size(value));
    else if (hidden && json_is_string(value))
        mx_format(out, "a string of %s bytes", json_string_length(value));
    else if (hidden || json_is_null(value))
        mcpx_text_puts(out, type_name(value));
    else if (json_is_string(value))
        write_string(value, out);
    else if (json_is_boolean(value))
        mcpx_text_puts(out, json_is_true(value) ? "true (boolean)" : "false (boolean)");
    else
        write_number(value, out);
}

struct mcpx_text *error_found_here(struct loading *loading, const json_t *value, bool hidden)
{
    struct mcpx_text *line =
        report_begin(loading, REPORT_ERROR, loading->sources->file, pointer_text(loading));

    found_write(value, hidden, line);
    return line;
}

static bool is_hidden(const struct setting *row)
{
    return row->type == SETTING_SECRET || row->type == SETTING_SHA256 ||
           row->type == SETTING_MAP || row->type == SETTING_LIST;
}

void error_unfit(struct loading *loading, const char *source, const char *pointer,
                 const json_t *value, const struct setting *row)
{
    struct mcpx_text *line = report_begin(loading, REPORT_ERROR, source, pointer);

    found_write(value, is_hidden(row), line);
    mcpx_text_puts(line, ", expected ");
    setting_write_expected(row, line);
    mcpx_text_puts(line, "\n");
}

size_t pointer_push(struct loading *loading, const char *name)
{
    size_t len = loading->pointer.len;

    mx_tree_pointer_add(&loading->pointer, mcpx_slice_of(name));
    return len;
}

size_t pointer_push_index(struct loading *loading, size_t index)
{
    size_t len = loading->pointer.len;

    mx_format(&loading->pointer, "/%s", index);
    return len;
}

void pointer_pop(struct loading *loading, size_t len)
{
    struct mcpx_text *pointer = &loading->pointer;

    if (!pointer->text || pointer->len < len)
        return;
    pointer->len = len;
    pointer->text[len] = '\0';
}

void pointer_set(struct loading *loading, const char *section, const char *name)
{
    pointer_pop(loading, 0);
    pointer_push(loading, section);
    pointer_push(loading, name);
}

const char *pointer_text(const struct loading *loading)
{
    return loading->pointer.text && !loading->pointer.failed ? loading->pointer.text : "";
}

const json_t *tree_at(const struct loading *loading, const char *section, const char *name)
{
    const json_t *value = json_object_get(loading->tree, section);

    return name ? json_object_get(value, name) : value;
}
