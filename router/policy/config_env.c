/*
 * config_env.c - MCPX_<SECTION>_<KEY>. A variable's text becomes the JSON value that its row
 * needs; from there it is handled like a value of the file. A variable that begins like a
 * section and names no setting is an error, like an unknown key: otherwise a misspelt limit
 * would be no limit.
 */
#include "router/policy/loading.h"

#include "lib/core/scan.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

/* The row a variable names; NULL when there is none. */
static const struct setting *row_of(struct loading *loading, struct mcpx_slice name)
{
    const struct setting *found = NULL;
    struct mcpx_text variable = {0};

    for (const struct setting *row = settings_table; !found && row->pointer; row++) {
        mcpx_text_reset(&variable);
        setting_write_variable(row, &variable);
        if (name.len > 0 && mcpx_slice_equal(mcpx_text_view(&variable), name))
            found = row;
        loading->no_memory |= variable.failed;
    }
    mcpx_text_fini(&variable);
    return found;
}

/* Whether it looks like one of ours. Other programs may have MCPX_ variables too. */
static bool is_in_section(struct mcpx_slice name)
{
    static const char *const sections[] = {
        "MCPX_TLS_",    "MCPX_AUTH_",  "MCPX_PROFILES_", "MCPX_PARTICIPANTS_", "MCPX_TOPICS_",
        "MCPX_LIMITS_", "MCPX_STORE_", "MCPX_AUDIT_",    "MCPX_LOG_"};

    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        size_t len = strlen(sections[i]);

        if (name.len >= len && memcmp(name.text, sections[i], len) == 0)
            return true;
    }
    return false;
}

/*
 * Whether Kubernetes sets it, for a service whose name begins with ours: a service "mcpx-store" has
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
    if (errno || *end || (*text != '-' && (*text < '0' || *text > '9')))
        return json_string(text);
    return json_integer(number);
}

/* "a, b" to ["a", "b"]. */
static json_t *list_of(const char *text)
{
    json_t *list = json_array();

    while (list && *text) {
        size_t len, end;

        text += strspn(text, ", ");
        len = strcspn(text, ",");
        for (end = len; end > 0 && text[end - 1] == ' ';)
            end--;
        if (end > 0 && json_array_append_new(list, json_stringn(text, end)) != 0) {
            json_decref(list);
            return NULL;
        }
        text += len;
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
    json_t *value;

    if (*text == '\0')
        return; /* treated as not set */
    if (!mx_utf8_is_valid(mcpx_slice_of(text), NULL)) {
        error_line(loading, name, "", "found bytes that are not UTF-8");
        return;
    }
    value = value_of(row, text);
    if (!value) {
        loading->no_memory = true;
        return;
    }
    if (!setting_fits(row, value))
        error_unfit(loading, name, "", value, row);
    else if (setting_store(row, value, FROM_ENVIRONMENT, &loading->settings) == MCPX_ENOMEM)
        loading->no_memory = true;
    json_decref(value);
}

static void load_variable(struct loading *loading, const char *variable, const char *equals)
{
    struct mcpx_slice name = {variable, (size_t)(equals - variable)};
    const struct setting *row = row_of(loading, name);
    struct mcpx_text text = {0};

    if (loading->no_memory || (!row && !is_in_section(name)))
        return;
    mcpx_text_slice(&text, name);
    if (text.failed)
        loading->no_memory = true;
    else if (row)
        apply(loading, text.text, row, equals + 1);
    else if (!is_of_kubernetes(text.text, equals + 1))
        error_line(loading, text.text, "", "no setting has this name");
    mcpx_text_fini(&text);
}

void load_environment(struct loading *loading)
{
    const char *const *variables = loading->sources->environment;

    for (; variables && *variables; variables++) {
        const char *equals = strchr(*variables, '=');

        if (equals && strncmp(*variables, "MCPX_", 5) == 0)
            load_variable(loading, *variables, equals);
    }
}
