/*
 * What breaks for whom: an operator who reads of a setting that does not exist, or of a range
 * that is not the real one; an editor that underlines what is right. docs/configuration.md and
 * config/router.schema.json are brought up to the table of settings, and the schema to what the
 * page says of each; that has to change nothing. `make settings` writes what it changes.
 */
#include "lib/edge/file.h"
#include "lib/json/json_write.h"
#include "router/policy/config/settings.h"
#include "tests/support/settled.h"
#include <mcpx/text.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE "docs/configuration.md"
#define SCHEMA "config/router.schema.json"

static struct mcpx_text source_name(const char *path)
{
    const char *root = getenv("MCPX_SOURCE_DIR");

    return mx_formatted("%s/%s", root ? root : ".", path);
}

/* A file of the source tree, as text the caller frees. */
static char *read_source(const char *path)
{
    mx_scoped_text name = source_name(path);
    struct mcpx_text text = {0};
    const char *why = mx_file_read(name.text, SIZE_MAX, &text);

    cr_assert_null(why, "%s: %s", name.text, why);
    cr_assert_not_null(text.text);
    return text.text;
}

/* Frees what a file has and what it should have, which it then has with MCPX_WRITE. */
static void settle(const char *path, char *has, char *wanted)
{
    mx_scoped_text name = source_name(path);
    FILE *file = getenv("MCPX_WRITE") ? fopen(name.text, "w") : NULL;

    if (file)
        cr_assert(fputs(wanted, file) >= 0 && fclose(file) == 0);
    else
        cr_expect(strcmp(has, wanted) == 0,
                  "%s is not what config_table.c says; to mend: make settings", path);
    free(has);
    free(wanted);
}

/* "/auth/jwt/keys/N/kid" as people write it: auth.jwt.keys[].kid */
static void write_key(const struct setting *row, struct mcpx_text *out)
{
    mx_scoped_text above = {0};

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
        for (size_t i = 0; row->choices[i]; i++)
            mx_format(out, i > 0 ? ", %s" : "%s", row->choices[i]);
        return;
    case SETTING_SHA256:
        mcpx_text_puts(out, "64 digits");
        return;
    case SETTING_INTEGER:
        mx_format(out, *row->zero ? "%s, 0 = %s" : "%s%s", range, row->zero);
        return;
    case SETTING_STRING:
    case SETTING_SECRET:
        mx_format(out, "%s bytes", range);
        return;
    default:
        mx_format(out, "%s %s", range, row->type == SETTING_MAP ? "members" : "entries");
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
        [SETTING_STRINGS] = "list of strings",
        [SETTING_PATTERNS] = "list of patterns",
        [SETTING_GRANTS] = "list of grants",
        [SETTING_MAP] = "object of objects",
        [SETTING_LIST] = "list of objects",
    };
    mx_scoped_text child = {0};

    mcpx_text_puts(&child, row->pointer);
    mcpx_text_puts(&child, "/*");
    if (row->type == SETTING_MAP && settings_find(child.text))
        mcpx_text_puts(out, "object of strings");
    else
        mcpx_text_puts(out, names[row->type]);
}

/* The line of docs/configuration.md about a row, whatever that says; NULL when there is none. */
static const char *line_of(const char *page, const struct setting *row)
{
    mx_scoped_text head = {0};

    mcpx_text_puts(&head, "\n| `");
    write_key(row, &head);
    mcpx_text_puts(&head, "` | ");
    return strstr(page, head.text);
}

/* A column of that line, counted from 1; empty when there is no line. */
static struct mcpx_slice column_of(const char *page, const struct setting *row, int column)
{
    const char *at = line_of(page, row);

    for (int i = 0; at && i < column; i++)
        at = strstr(at, "| ") + 2;
    return at ? (struct mcpx_slice){at, strcspn(at, "|") - 1} : MCPX_SLICE("");
}

/* The line that a row asks for. The page alone says the unit of a number, and what a row means. */
static void write_line(const char *page, const struct setting *row, struct mcpx_text *out)
{
    struct mcpx_slice type = column_of(page, row, 2);
    mx_scoped_text variable = {0};

    mcpx_text_puts(out, "| `");
    write_key(row, out);
    mcpx_text_puts(out, "` | ");
    if (row->type == SETTING_INTEGER && strncmp(type.text, "integer, ", 9) == 0)
        mcpx_text_slice(out, type);
    else
        write_type(row, out);
    mcpx_text_puts(out, " | ");
    write_range(row, out);
    mx_format(out, row->fallback ? " | `%s` | " : " | %s | ", row->fallback);
    setting_write_variable(row, &variable);
    mx_format(out, variable.len ? "`%s` | " : "%s | ", &variable);
    mx_format(out, "%s | %s |\n", row->live ? "reload" : "restart", column_of(page, row, 7));
}

/* Lines of a table of settings have seven columns; other tables of the page have fewer. */
static bool is_setting_line(const char *line, size_t len)
{
    size_t bars = 0;

    for (size_t i = 0; i < len; i++)
        bars += line[i] == '|';
    return bars == 8 && strncmp(line, "| `", 3) == 0;
}

/* A row that the rest of the page does not have comes in the place of the line, or behind it. */
Test(docs, describe_every_setting_as_it_is)
{
    const struct setting *row = settings_table;
    char *page = read_source(PAGE);
    struct mcpx_text wanted = {0};

    for (const char *at = page; *at;) {
        const char *end = at + strcspn(at, "\n");

        if (!is_setting_line(at, (size_t)(end - at)))
            mcpx_text_add(&wanted, at, (size_t)(end - at) + 1);
        else
            while (row->pointer && !line_of(end, row))
                write_line(page, row++, &wanted);
        at = end + 1;
    }
    settle(PAGE, page, wanted.text);
}

/* The member of an object, made where there is none. */
static json_t *member(json_t *object, const char *name)
{
    if (!json_object_get(object, name))
        json_object_set_new(object, name, json_object());
    return json_object_get(object, name);
}

/* The schema of the value at a row's pointer, likewise. */
static json_t *schema_at(json_t *node, const char *pointer)
{
    while (*pointer) {
        size_t len = strcspn(pointer + 1, "/");
        const char *type = json_string_value(json_object_get(node, "type"));
        char name[64];

        snprintf(name, sizeof name, "%.*s", (int)len, pointer + 1);
        if (strcmp(name, "*") == 0) {
            node = member(node, strcmp(type, "array") == 0 ? "items" : "additionalProperties");
        } else {
            if (!json_object_get(node, "properties"))
                json_object_update_new(node,
                                       json_pack("{s:s, s:b, s:{}}", "type", "object",
                                                 "additionalProperties", 0, "properties"));
            node = member(json_object_get(node, "properties"), name);
        }
        pointer += len + 1;
    }
    return node;
}

/* What only the schema says of a value stays there, the rest is what its row says. */
static void describe(const char *page, const struct setting *row, json_t *node)
{
    static const struct {
        const char *type, *least, *most, *items;
    } words[] = {
        [SETTING_BOOL] = {"boolean", NULL, NULL, NULL},
        [SETTING_INTEGER] = {"integer", "minimum", "maximum", NULL},
        [SETTING_CHOICE] = {NULL, NULL, NULL, NULL},
        [SETTING_STRING] = {"string", "minLength", "maxLength", NULL},
        [SETTING_SECRET] = {"string", "minLength", "maxLength", NULL},
        [SETTING_SHA256] = {"string", NULL, NULL, NULL},
        [SETTING_STRINGS] = {"array", "minItems", "maxItems", "#/$defs/name"},
        [SETTING_PATTERNS] = {"array", "minItems", "maxItems", "#/$defs/pattern"},
        [SETTING_GRANTS] = {"array", "minItems", "maxItems", "#/$defs/grant"},
        [SETTING_MAP] = {"object", NULL, "maxProperties", NULL},
        [SETTING_LIST] = {"array", "minItems", "maxItems", NULL},
    };
    static const char *const own[] = {"pattern",       "properties", "additionalProperties",
                                      "propertyNames", "items",      "required",
                                      "oneOf"};
    struct mcpx_slice meaning = column_of(page, row, 7);
    json_auto_t *was = json_copy(node), *choices = json_array();
    int64_t least = *row->zero ? 0 : row->min;

    cr_expect(meaning.len > 0, "%s: the page does not say what it means", row->pointer);
    json_object_clear(node);
    json_object_set_new(node, "description", json_stringn(meaning.text, meaning.len));
    if (words[row->type].type)
        json_object_set_new(node, "type", json_string(words[row->type].type));
    for (size_t i = 0; row->choices && row->choices[i]; i++)
        json_array_append_new(choices, json_string(row->choices[i]));
    if (row->choices)
        json_object_set(node, "enum", choices);
    if (*row->zero && row->min > 1)
        json_object_set_new(node, "anyOf",
                            json_pack("[{s:i}, {s:I}]", "const", 0, "minimum", row->min));
    else if (words[row->type].least)
        json_object_set_new(node, words[row->type].least, json_integer(least));
    if (words[row->type].most)
        json_object_set_new(node, words[row->type].most, json_integer(row->max));
    if (row->fallback)
        json_object_set_new(node, "default", json_loads(row->fallback, JSON_DECODE_ANY, NULL));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (json_object_get(was, own[i]))
            json_object_set(node, own[i], json_object_get(was, own[i]));
    if (words[row->type].items)
        json_object_set_new(node, "items", json_pack("{s:s}", "$ref", words[row->type].items));
}

/* Takes out what is no setting and no section. No object is open. */
static void prune(json_t *node, struct mcpx_text *pointer)
{
    json_t *members = json_object_get(node, "properties");
    json_t *more = json_object_get(node, "additionalProperties");
    json_t *items = json_object_get(node, "items"), *value;
    size_t len = pointer->len;
    const char *name;
    void *next;

    if (members)
        cr_expect(json_is_false(more), SCHEMA ": %s takes any key", pointer->text);
    json_object_foreach_safe(members, next, name, value)
    {
        mcpx_text_puts(pointer, "/");
        mcpx_text_puts(pointer, name);
        if (settings_find(pointer->text) || settings_has_section(pointer->text))
            prune(value, pointer);
        else
            json_object_del(members, name);
        pointer->text[pointer->len = len] = '\0';
    }
    if (members || (!json_is_object(more) && !json_is_object(items)))
        return;
    mcpx_text_puts(pointer, "/x");
    prune(json_is_object(more) ? more : items, pointer);
    pointer->text[pointer->len = len] = '\0';
}

Test(schema, describes_every_setting_as_it_is)
{
    char *text = read_source(SCHEMA), *page = read_source(PAGE), *dumped;
    json_auto_t *schema = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    mx_scoped_text pointer = {0};
    struct mcpx_text wanted = {0};

    cr_assert_not_null(schema);
    for (const struct setting *row = settings_table; row->pointer; row++)
        describe(page, row, schema_at(schema, row->pointer));
    mcpx_text_puts(&pointer, "");
    prune(schema, &pointer);
    dumped = json_dumps(schema, JSON_INDENT(2));
    mx_format(&wanted, "%s\n", dumped);
    settle(SCHEMA, text, wanted.text);
    free(dumped);
    free(page);
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
