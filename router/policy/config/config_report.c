/*
 * config_report.c - error and warning lines: where, what was found, what is allowed. A value is
 * shown only if it cannot be a secret. It is cut to a length that fits a line, and its control
 * characters are escaped, because the line may be shown on a terminal.
 */
#include "lib/json/json_write.h"
#include "lib/protocol/grammar.h"
#include "router/policy/config/settings.h"

#include <mcpx/json.h>

enum { SHOWN_MAX = 64 };

/* Names come from the file: characters that a terminal would obey are escaped. */
static void write_plain(struct mcpx_text *out, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    struct mcpx_slice rest = mcpx_slice_of(text);

    while (rest.len > 0) {
        size_t plain = mx_control_find(rest);
        size_t after = plain;

        mcpx_text_add(out, rest.text, plain);
        /* the rest of the character: bytes that begin none */
        while (after < rest.len &&
               (after == plain || ((unsigned char)rest.text[after] & 0xc0) == 0x80)) {
            unsigned char byte = (unsigned char)rest.text[after++];
            char escape[] = {'\\', 'x', digits[byte >> 4], digits[byte & 15]};

            mcpx_text_add(out, escape, sizeof escape);
        }
        rest.text += after;
        rest.len -= after;
    }
}

static struct mcpx_text *begin(struct mcpx_text *line, const char *source, const char *pointer)
{
    write_plain(line, source);
    mcpx_text_puts(line, ": ");
    if (*pointer) {
        write_plain(line, pointer);
        mcpx_text_puts(line, ": ");
    }
    return line;
}

struct mcpx_text *error_begin(struct loading *loading, const char *source, const char *pointer)
{
    loading->faults++;
    return begin(loading->errors, source, pointer);
}

struct mcpx_text *warning_begin(struct loading *loading, const char *source,
                                const char *pointer)
{
    return begin(&loading->warnings, source, pointer);
}

void error_line(struct loading *loading, const char *source, const char *pointer,
                const char *sentence)
{
    mx_format(error_begin(loading, source, pointer), "%s\n", sentence);
}

void warning_line(struct loading *loading, const char *source, const char *pointer,
                  const char *sentence)
{
    mx_format(warning_begin(loading, source, pointer), "%s\n", sentence);
}

void error_here(struct loading *loading, const char *sentence)
{
    error_line(loading, loading->sources->file, pointer_text(loading), sentence);
}

void warning_here(struct loading *loading, const char *sentence)
{
    warning_line(loading, loading->sources->file, pointer_text(loading), sentence);
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

static void write_found(const json_t *value, bool hidden, struct mcpx_text *out)
{
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

struct mcpx_text *error_found(struct loading *loading, const char *source, const char *pointer,
                              const json_t *value, bool hidden)
{
    struct mcpx_text *line = error_begin(loading, source, pointer);

    mcpx_text_puts(line, "found ");
    write_found(value, hidden, line);
    return line;
}

struct mcpx_text *error_found_here(struct loading *loading, const json_t *value, bool hidden)
{
    return error_found(loading, loading->sources->file, pointer_text(loading), value, hidden);
}

static bool is_hidden(const struct setting *row)
{
    return row->type == SETTING_SECRET || row->type == SETTING_SHA256 ||
           row->type == SETTING_MAP || row->type == SETTING_LIST;
}

void error_unfit(struct loading *loading, const char *source, const char *pointer,
                 const json_t *value, const struct setting *row)
{
    struct mcpx_text *line = error_found(loading, source, pointer, value, is_hidden(row));

    mcpx_text_puts(line, ", expected ");
    setting_write_expected(row, line);
    mcpx_text_puts(line, "\n");
}

size_t pointer_push(struct loading *loading, const char *name)
{
    size_t len = loading->pointer.len;

    mcpx_text_add(&loading->pointer, "/", 1);
    for (; *name; name++) {
        if (*name == '~')
            mcpx_text_puts(&loading->pointer, "~0");
        else if (*name == '/')
            mcpx_text_puts(&loading->pointer, "~1");
        else
            mcpx_text_add(&loading->pointer, name, 1);
    }
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

/* Where lines about the configuration as a whole say they come from. */
static const char *whole(const struct loading *loading)
{
    return loading->sources->file ? loading->sources->file : "configuration";
}

void setting_line(struct loading *loading, const char *pointer, const char *sentence,
                  void (*line)(struct loading *, const char *, const char *, const char *))
{
    struct mcpx_text variable = {0};

    if (settings_source(&loading->settings, pointer) != FROM_ENVIRONMENT) {
        line(loading, whole(loading), pointer, sentence);
        return;
    }
    setting_write_variable(settings_find(pointer), &variable);
    if (variable.failed)
        loading->no_memory = true;
    else
        line(loading, variable.text, "", sentence);
    mcpx_text_fini(&variable);
}
