/*
 * What breaks for whom: an operator who reads of a setting that does not exist, or of a range
 * that is not the real one; an editor that underlines what is right. The table of settings is
 * compared with docs/configuration.md and config/router.schema.json, row by row, both ways.
 */
#include "lib/edge/file.h"
#include "router/policy/config/settings.h"
#include "tests/support/settled.h"
#include <mcpx/text.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define SCHEMA "config/router.schema.json"

/* A file of the source tree, as text the caller frees. */
static char *read_source(const char *path)
{
    const char *root = getenv("MCPX_SOURCE_DIR");
    struct mcpx_text name = {0}, text = {0};
    const char *why;

    mcpx_text_puts(&name, root ? root : ".");
    mcpx_text_puts(&name, "/");
    mcpx_text_puts(&name, path);
    why = mx_file_read(name.text, SIZE_MAX, &text);
    cr_assert_null(why, "%s: %s", name.text, why);
    mcpx_text_fini(&name);
    cr_assert_not_null(text.text);
    return text.text;
}

/* "/auth/jwt/keys/N/kid" as people write it: auth.jwt.keys[].kid */
static void write_key(const struct setting *row, struct mcpx_text *out)
{
    struct mcpx_text above = {0};

    for (const char *at = row->pointer; *at;) {
        size_t len = strcspn(at + 1, "/");
        const struct setting *parent = settings_find(above.text ? above.text : "");

        if (len == 1 && at[1] == '*') {
            mcpx_text_puts(out, parent->type == SETTING_LIST ? "[]" : ".NAME");
        } else {
            mcpx_text_puts(out, at == row->pointer ? "" : ".");
            mcpx_text_add(out, at + 1, len);
        }
        mcpx_text_add(&above, at, len + 1);
        at += len + 1;
    }
    mcpx_text_fini(&above);
}

static void write_range(const struct setting *row, struct mcpx_text *out)
{
    char range[64];

    snprintf(range, sizeof range, "%lld..%lld", (long long)row->min, (long long)row->max);
    switch (row->type) {
    case SETTING_BOOL:
        mcpx_text_puts(out, "true, false");
        return;
    case SETTING_CHOICE:
        for (size_t i = 0; row->choices[i]; i++) {
            mcpx_text_puts(out, i > 0 ? ", " : "");
            mcpx_text_puts(out, row->choices[i]);
        }
        return;
    case SETTING_LATER:
        mcpx_text_puts(out, "empty");
        return;
    case SETTING_SHA256:
        mcpx_text_puts(out, "64 digits");
        return;
    case SETTING_INTEGER:
        mcpx_text_puts(out, range);
        mcpx_text_puts(out, *row->zero ? ", 0 = " : "");
        mcpx_text_puts(out, row->zero);
        return;
    case SETTING_STRING:
    case SETTING_SECRET:
        mcpx_text_puts(out, range);
        mcpx_text_puts(out, " bytes");
        return;
    default:
        mcpx_text_puts(out, range);
        mcpx_text_puts(out, row->type == SETTING_MAP ? " members" : " entries");
    }
}

/* The type in words. */
static void write_type(const struct setting *row, struct mcpx_text *out)
{
    static const char *const names[] = {
        [SETTING_BOOL] = "boolean",
        [SETTING_INTEGER] = "integer",
        [SETTING_CHOICE] = "choice",
        [SETTING_STRING] = "string",
        [SETTING_SECRET] = "secret",
        [SETTING_SHA256] = "hexadecimal",
        [SETTING_LATER] = "string",
        [SETTING_STRINGS] = "list of strings",
        [SETTING_PATTERNS] = "list of patterns",
        [SETTING_GRANTS] = "list of grants",
        [SETTING_MAP] = "object of objects",
        [SETTING_LIST] = "list of objects",
    };
    struct mcpx_text child = {0};

    mcpx_text_puts(&child, row->pointer);
    mcpx_text_puts(&child, "/*");
    if (row->type == SETTING_MAP && settings_find(child.text))
        mcpx_text_puts(out, "object of strings");
    else
        mcpx_text_puts(out, names[row->type]);
    mcpx_text_fini(&child);
}

/* The line of docs/configuration.md that a row asks for. */
static void write_line(const struct setting *row, struct mcpx_text *out)
{
    struct mcpx_text variable = {0};

    mcpx_text_puts(out, "| `");
    write_key(row, out);
    mcpx_text_puts(out, "` | ");
    write_type(row, out);
    mcpx_text_puts(out, *row->unit ? ", " : "");
    mcpx_text_puts(out, row->unit);
    mcpx_text_puts(out, " | ");
    write_range(row, out);
    mcpx_text_puts(out, row->fallback ? " | `" : " | ");
    mcpx_text_puts(out, row->fallback ? row->fallback : "");
    mcpx_text_puts(out, row->fallback ? "` | " : " | ");
    setting_write_variable(row, &variable);
    mcpx_text_puts(out, variable.len ? "`" : "");
    mcpx_text_puts(out, variable.len ? variable.text : "");
    mcpx_text_puts(out, variable.len ? "` | " : " | ");
    mcpx_text_puts(out, row->live ? "reload | " : "restart | ");
    mcpx_text_puts(out, row->help);
    mcpx_text_puts(out, " |\n");
    mcpx_text_fini(&variable);
}

Test(docs, describe_every_setting_as_it_is)
{
    char *page = read_source("docs/configuration.md");

    for (const struct setting *row = settings_table; row->pointer; row++) {
        struct mcpx_text line = {0};

        write_line(row, &line);
        cr_expect_not_null(strstr(page, line.text),
                           "docs/configuration.md lacks this line:\n%s", line.text);
        mcpx_text_fini(&line);
    }
    free(page);
}

/* Lines of a table of settings have seven columns; other tables of the page have fewer. */
static bool is_setting_line(const char *line, size_t len)
{
    size_t bars = 0;

    for (size_t i = 0; i < len; i++)
        bars += line[i] == '|';
    return bars == 8 && strncmp(line, "| `", 3) == 0;
}

Test(docs, describe_no_setting_that_does_not_exist)
{
    char *page = read_source("docs/configuration.md");
    size_t count = 0, found = 0;

    while (settings_table[count].pointer)
        count++;
    for (const char *at = page; *at;) {
        size_t len = strcspn(at, "\n");

        found += is_setting_line(at, len);
        at += len + (at[len] == '\n');
    }
    cr_expect_eq(found, count,
                 "docs/configuration.md has %zu lines of settings, config_table.c has %zu",
                 found, count);
    free(page);
}

/* The schema of the value at a row's pointer; NULL when there is none. */
static const json_t *schema_at(const json_t *root, const char *pointer)
{
    const json_t *node = root;

    while (node && *pointer) {
        size_t len = strcspn(pointer + 1, "/");
        const json_t *members = json_object_get(node, "properties");
        char name[64];

        snprintf(name, sizeof name, "%.*s", (int)len, pointer + 1);
        if (len == 1 && pointer[1] == '*')
            node = json_object_get(
                node, json_object_get(node, "items") ? "items" : "additionalProperties");
        else
            node = json_object_get(members, name);
        pointer += len + 1;
    }
    return node;
}

static int64_t number_of(const json_t *node, const char *name)
{
    return json_integer_value(json_object_get(node, name));
}

static bool is_type(const json_t *node, const char *type)
{
    const char *text = json_string_value(json_object_get(node, "type"));

    return text && strcmp(text, type) == 0;
}

static bool has_bounds(const json_t *node, const struct setting *row, const char *low,
                       const char *high)
{
    return number_of(node, low) == row->min && number_of(node, high) == row->max;
}

static bool has_integer_range(const json_t *node, const struct setting *row)
{
    const json_t *any = json_object_get(node, "anyOf");
    const json_t *least = any ? json_array_get(any, 1) : node;
    int64_t min = *row->zero && !any ? 0 : row->min;

    if (any && (!*row->zero || !json_object_get(json_array_get(any, 0), "const") ||
                number_of(json_array_get(any, 0), "const") != 0))
        return false;
    if (*row->zero && !any && row->min > 1)
        return false;
    return is_type(node, "integer") && number_of(least, "minimum") == min &&
           number_of(node, "maximum") == row->max;
}

static bool has_choices(const json_t *node, const struct setting *row)
{
    const json_t *choices = json_object_get(node, "enum");
    size_t i = 0;

    for (; row->choices[i]; i++) {
        const char *text = json_string_value(json_array_get(choices, i));

        if (!text || strcmp(text, row->choices[i]) != 0)
            return false;
    }
    return json_array_size(choices) == i;
}

static bool has_range(const json_t *node, const struct setting *row)
{
    switch (row->type) {
    case SETTING_BOOL:
        return is_type(node, "boolean");
    case SETTING_INTEGER:
        return has_integer_range(node, row);
    case SETTING_CHOICE:
        return has_choices(node, row);
    case SETTING_SHA256:
        return is_type(node, "string") && json_object_get(node, "pattern");
    case SETTING_STRING:
    case SETTING_SECRET:
    case SETTING_LATER:
        return is_type(node, "string") && has_bounds(node, row, "minLength", "maxLength");
    case SETTING_MAP:
        return is_type(node, "object") && number_of(node, "maxProperties") == row->max;
    default:
        return is_type(node, "array") && has_bounds(node, row, "minItems", "maxItems");
    }
}

static bool has_default(const json_t *node, const struct setting *row)
{
    json_t *fallback = row->fallback ? json_loads(row->fallback, JSON_DECODE_ANY, NULL) : NULL;
    const json_t *stated = json_object_get(node, "default");
    bool same = fallback ? json_equal(stated, fallback) : stated == NULL;

    json_decref(fallback);
    return same;
}

static json_t *load_schema(void)
{
    char *text = read_source(SCHEMA);
    json_t *schema = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    cr_assert_not_null(schema);
    free(text);
    return schema;
}

Test(schema, describes_every_setting_as_it_is)
{
    json_t *schema = load_schema();

    for (const struct setting *row = settings_table; row->pointer; row++) {
        const json_t *node = schema_at(schema, row->pointer);
        const char *help = json_string_value(json_object_get(node, "description"));

        cr_expect_not_null(node, SCHEMA " lacks the property %s", row->pointer);
        if (!node)
            continue;
        cr_expect(help && strcmp(help, row->help) == 0,
                  SCHEMA ": %s has another description than \"%s\"", row->pointer, row->help);
        cr_expect(has_range(node, row), SCHEMA ": %s has another type or range", row->pointer);
        cr_expect(has_default(node, row), SCHEMA ": %s has another default than %s",
                  row->pointer, row->fallback ? row->fallback : "none");
    }
    json_decref(schema);
}

/* Every property in the schema is a setting or a section, and no object is open. */
static void walk(const json_t *node, struct mcpx_text *pointer)
{
    const json_t *members = json_object_get(node, "properties");
    const json_t *more = json_object_get(node, "additionalProperties");
    size_t len = pointer->len;
    const char *name;
    json_t *value;

    if (!members && !json_is_object(more) &&
        !is_type(json_object_get(node, "items"), "object"))
        return;
    if (members)
        cr_expect(json_is_false(more), SCHEMA ": %s takes any key", pointer->text);
    json_object_foreach((json_t *)members, name, value) {
        mcpx_text_puts(pointer, "/");
        mcpx_text_puts(pointer, name);
        cr_expect(settings_find(pointer->text) || settings_has_section(pointer->text),
                  SCHEMA ": %s is no setting", pointer->text);
        walk(value, pointer);
        pointer->text[pointer->len = len] = '\0';
    }
    if (members)
        return;
    mcpx_text_puts(pointer, "/x");
    walk(json_is_object(more) ? more : json_object_get(node, "items"), pointer);
    pointer->text[pointer->len = len] = '\0';
}

Test(schema, describes_no_setting_that_does_not_exist)
{
    json_t *schema = load_schema();
    struct mcpx_text pointer = {0};

    mcpx_text_puts(&pointer, "");
    walk(schema, &pointer);
    mcpx_text_fini(&pointer);
    json_decref(schema);
}

Test(settings, have_defaults_that_fit)
{
    for (const struct setting *row = settings_table; row->pointer; row++) {
        json_t *value =
            row->fallback ? json_loads(row->fallback, JSON_DECODE_ANY, NULL) : NULL;

        cr_expect(!row->fallback || setting_fits(row, value),
                  "%s: its default is outside its range", row->pointer);
        cr_expect(row->size == 0 || row->fallback, "%s is stored without a default",
                  row->pointer);
        json_decref(value);
    }
}

/* The lines that are not about the hashes, which everybody has to replace. */
static void leave_out_placeholders(const char *warnings, struct mcpx_text *out)
{
    mcpx_text_puts(out, "");
    for (const char *at = warnings; *at;) {
        size_t len = strcspn(at, "\n") + 1;
        const char *found = strstr(at, "/token_sha256: is the placeholder of an example");

        if (!found || found > at + len)
            mcpx_text_add(out, at, len);
        at += len;
    }
}

Test(examples, are_good_configurations)
{
    static const struct {
        const char *path;
        bool complete; /* worth no warning but of its hashes */
    } rows[] = {{"config/router.example.json", true}, {"config/profiles.example.json", false}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = read_source(rows[i].path);
        struct settled s = settled_load(text, NULL, false);

        cr_expect_eq(s.err, MCPX_OK, "%s: %s", rows[i].path, s.errors.text);
        if (!s.err && rows[i].complete) {
            struct mcpx_text rest = {0};

            leave_out_placeholders(settled_warnings(&s), &rest);
            cr_expect_str_eq(rest.text, "");
            cr_expect_str_neq(settled_warnings(&s), "", "its hashes are placeholders");
            mcpx_text_fini(&rest);
        }
        cr_expect(s.err || !strstr(settled_warnings(&s), "grant \""), "%s",
                  settled_warnings(&s));
        settled_fini(&s);
        free(text);
    }
}

/* Every block of the page that is a whole configuration is one. */
Test(examples, of_the_documentation_are_good_configurations)
{
    char *page = read_source("docs/configuration.md");
    char *at = page;
    size_t found = 0;

    while ((at = strstr(at, "```json\n{")) != NULL) {
        char *end = strstr(at += strlen("```json\n"), "\n```");
        struct settled s;

        cr_assert_not_null(end);
        *end = '\0';
        s = settled_load(at, NULL, false);
        cr_expect_eq(s.err, MCPX_OK, "%s\n%s", at, s.errors.text);
        settled_fini(&s);
        at = end + 1;
        found++;
    }
    cr_expect_gt(found, 0);
    free(page);
}
