/*
 * config_file.c - reads the file and compares it with the table: every member is a row, a
 * section above rows, or unknown. This step checks and stores single values only. Checks across
 * profiles, participants and keys come later, when every value is known to have the right type.
 */
#include "lib/base/digits.h"
#include "lib/base/scoped.h"
#include "lib/edge/file.h"
#include "lib/json/decisive.h"
#include "lib/json/escape.h"
#include "lib/json/json_write.h"
#include "router/policy/config/settings.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

enum { FILE_BYTES_MAX = 64 << 20, STRING_ENTRY_MAX = 256 };

static void report_unknown(struct loading *loading)
{
    struct mcpx_text *line =
        report_begin(loading, REPORT_ERROR, loading->sources->file, pointer_text(loading));

    mcpx_text_puts(line, "unknown key, expected one of ");
    pointer_pop(loading,
                (size_t)(strrchr(loading->pointer.text, '/') - loading->pointer.text));
    settings_write_names(loading->pointer.text, line);
    mcpx_text_puts(line, "\n");
}

static void walk(struct loading *loading, json_t *value);

static void walk_members(struct loading *loading, json_t *object)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value) {
        size_t len = pointer_push(loading, name);

        walk(loading, value);
        pointer_pop(loading, len);
    }
}

static void walk_entries(struct loading *loading, json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        size_t len = pointer_push_index(loading, i);

        walk(loading, json_array_get(array, i));
        pointer_pop(loading, len);
    }
}

/* Checks the entries of a list of strings; false when one is not a string. */
static bool check_strings(struct loading *loading, const json_t *array)
{
    bool valid = true;

    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *entry = json_array_get(array, i);
        size_t bytes = json_string_length(entry), len;

        if (bytes >= 1 && bytes <= STRING_ENTRY_MAX)
            continue;
        valid = false;
        len = pointer_push_index(loading, i);
        mcpx_text_puts(error_found_here(loading, entry, true),
                       ", expected a string of 1..256 bytes\n");
        pointer_pop(loading, len);
    }
    return valid;
}

static void walk_row(struct loading *loading, json_t *value, const struct setting *row)
{
    enum mcpx_err err = MCPX_OK;

    if (!setting_fits(row, value))
        error_unfit(loading, loading->sources->file, pointer_text(loading), value, row);
    else if (row->type == SETTING_MAP)
        walk_members(loading, value);
    else if (row->type == SETTING_LIST)
        walk_entries(loading, value);
    else if (row->type != SETTING_STRINGS || check_strings(loading, value))
        err = setting_store(row, value, FROM_FILE, &loading->settings);
    loading->no_memory |= err == MCPX_ENOMEM;
}

static void walk(struct loading *loading, json_t *value)
{
    const struct setting *row = settings_find(pointer_text(loading));

    if (loading->pointer.failed)
        loading->no_memory = true;
    else if (row)
        walk_row(loading, value, row);
    else if (!settings_has_section(pointer_text(loading)))
        report_unknown(loading);
    else if (json_is_object(value))
        walk_members(loading, value);
    else /* hidden: it may be a secret in the wrong place */
        mcpx_text_puts(error_found_here(loading, value, true), ", expected an object\n");
}

static void parse(struct loading *loading, const struct mcpx_text *text)
{
    json_error_t fault;

    loading->tree =
        json_loadb(text->text ? text->text : "", text->len, JSON_REJECT_DUPLICATES, &fault);
    if (loading->tree)
        walk(loading, loading->tree);
    else if (json_error_code(&fault) == json_error_out_of_memory)
        loading->no_memory = true;
    else
        mx_format(report_begin(loading, REPORT_ERROR, loading->sources->file, ""),
                  "line %s, column %s: %s\n", fault.line, fault.column,
                  mx_json_reason(fault.text));
}

void load_file(struct loading *loading)
{
    const char *path = loading->sources->file;
    const char *why = NULL;
    mx_scoped_text text = {0};

    if (path)
        why = mx_file_read_given(path, FILE_BYTES_MAX, &text);
    if (text.failed)
        loading->no_memory = true;
    else if (why)
        mx_format(report_begin(loading, REPORT_ERROR, path, ""), "cannot be read: %s\n", why);
    else if (path)
        parse(loading, &text);
}

/*
 * MCPX_<SECTION>_<KEY>. A variable's text becomes a JSON value of its row's type, and is then
 * handled like a value of the file. A variable in a section's name space must name a setting, as a
 * key must: otherwise a misspelt limit would be silently ignored.
 */

static const struct setting *row_of(struct loading *loading, const char *name)
{
    mx_scoped_text variable = {0};

    for (const struct setting *row = settings_table; row->pointer; row++) {
        mcpx_text_reset(&variable);
        setting_write_variable(row, &variable);
        loading->no_memory |= variable.failed;
        if (variable.len > 0 && strcmp(variable.text, name) == 0)
            return row;
    }
    return NULL;
}

/* True when its name begins like a section. Other programs may have MCPX_ variables too. */
static bool is_in_section(const char *name)
{
    const char *at = name + strlen("MCPX_");
    char section[16] = "/"; /* the longest has 13 bytes */
    size_t len = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

    if (at[len] != '_' || len + 2 > sizeof section)
        return false;
    for (size_t i = 0; i < len; i++)
        section[1 + i] = (char)(at[i] - 'A' + 'a');
    return settings_has_section(section);
}

/*
 * True when Kubernetes sets it for a service such as "mcpx-store":
 * MCPX_STORE_PORT=tcp://10.0.0.1:80. No setting has such a name.
 */
static bool is_of_kubernetes(const char *name, const char *value)
{
    static const char *const patterns[] = {"*_SERVICE_HOST", "*_SERVICE_PORT*",
                                           "*_PORT_[0-9]*_TCP*", "*_PORT_[0-9]*_UDP*",
                                           "*_PORT_[0-9]*_SCTP*"};
    bool found = fnmatch("*_PORT", name, 0) == 0 && strstr(value, "://");

    for (size_t i = 0; !found && i < sizeof patterns / sizeof *patterns; i++)
        found = fnmatch(patterns[i], name, 0) == 0;
    return found;
}

/* "12" becomes 12. Other text stays a string, which is refused later. */
static json_t *integer_of(const char *text)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno || *end || (*text != '-' && !mx_is_digit(*text)))
        return json_string(text);
    return json_integer(number);
}

/* "a, b" to ["a", "b"]. */
static json_t *list_of(const char *text)
{
    json_t *list = json_array();
    struct mcpx_slice rest = mcpx_slice_of(text);

    while (list && rest.text) {
        struct mcpx_slice entry = mx_trim(mx_cut_at(&rest, ','), " ");

        if (entry.len > 0 &&
            json_array_append_new(list, json_stringn(entry.text, entry.len)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *value_of(const struct setting *row, const char *text)
{
    switch (row->type) {
    case SETTING_INTEGER:
        return integer_of(text);
    case SETTING_BOOL:
        if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
            return json_boolean(*text == 't');
        return json_string(text);
    case SETTING_STRINGS:
        return list_of(text);
    default:
        return json_string(text);
    }
}

static void apply(struct loading *loading, const char *name, const struct setting *row,
                  const char *text)
{
    json_auto_t *value = NULL;

    if (*text == '\0')
        return; /* treated as not set */
    if (!mx_utf8_is_valid(mcpx_slice_of(text), NULL)) {
        report_line(loading, REPORT_ERROR, name, "", "found bytes that are not UTF-8");
        return;
    }
    value = value_of(row, text);
    if (value && !setting_fits(row, value))
        error_unfit(loading, name, "", value, row);
    else if (!value || setting_store(row, value, FROM_ENVIRONMENT, &loading->settings))
        loading->no_memory = true;
}

void load_environment(struct loading *loading)
{
    const char *const *variables = loading->sources->environment;

    for (; variables && *variables; variables++) {
        const char *equals = strchr(*variables, '=');
        const struct setting *row;
        mx_scoped_text name = {0};

        if (!equals || strncmp(*variables, "MCPX_", 5) != 0)
            continue;
        mcpx_text_add(&name, *variables, (size_t)(equals - *variables));
        row = name.failed ? NULL : row_of(loading, name.text);
        loading->no_memory |= name.failed;
        if (row)
            apply(loading, name.text, row, equals + 1);
        else if (!loading->no_memory && is_in_section(name.text) &&
                 !is_of_kubernetes(name.text, equals + 1))
            report_line(loading, REPORT_ERROR, name.text, "", "no setting has this name");
    }
}
