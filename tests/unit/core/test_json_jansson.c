/*
 * What breaks for whom: a participant looks into payloads with these functions, its program with a
 * JSON library. Where the two find different values, what was checked is not what is done.
 * Protocol: section 2.
 *
 * Random texts, and JSONTestSuite where it lies at $MCPX_JSON_SUITE or ../shared/suites next to
 * the sources. What jansson cannot hold (see jansson_judge.h) is not compared.
 */
#include <mcpx/json.h>

#include "lib/base/scoped.h"
#include "tests/support/random_json.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1024, FLAGS = JSON_DECODE_ANY | JSON_ALLOW_NUL };

static void expect_equal(struct mcpx_slice value, const json_t *loaded);

static void expect_string(struct mcpx_slice value, const json_t *loaded)
{
    struct mcpx_slice text = {json_string_value(loaded), json_string_length(loaded)};
    mx_scoped_text out = {0};

    cr_assert(json_is_string(loaded));
    cr_expect(mcpx_json_equals(value, text), "%.*s", (int)value.len, value.text);
    cr_expect(mcpx_json_add_unescaped(&out, value));
    cr_expect(mcpx_slice_equal(mcpx_text_view(&out), text), "%.*s", (int)value.len,
              value.text);
}

/* Each name's last value, which is the one that jansson keeps. */
static void expect_members(struct mcpx_slice object, const json_t *loaded)
{
    const char *name;
    json_t *member;

    cr_assert(json_is_object(loaded));
    json_object_foreach((json_t *)loaded, name, member) {
        struct mcpx_slice last = {NULL, 0};
        size_t count = 0;

        MCPX_JSON_EACH(walk, object) {
            if (!mcpx_json_walk_at(&walk, name))
                continue;
            last = walk.value;
            count++;
        }
        cr_assert_gt(count, 0, "%s is not found", name);
        cr_expect_eq(mcpx_json_count(object, name), count, "%s", name);
        cr_expect(count > 1 || mcpx_json_get(object, name).text == last.text, "%s", name);
        expect_equal(last, member);
    }
}

static void expect_items(struct mcpx_slice array, const json_t *loaded)
{
    size_t count = 0;

    cr_assert(json_is_array(loaded));
    MCPX_JSON_EACH(walk, array)
        expect_equal(walk.value, json_array_get(loaded, count++));
    cr_expect_eq(count, json_array_size(loaded), "%.*s", (int)array.len, array.text);
}

static void expect_equal(struct mcpx_slice value, const json_t *loaded)
{
    json_t *scalar;

    switch (mcpx_json_type(value)) {
    case MCPX_JSON_STRING:
        expect_string(value, loaded);
        break;
    case MCPX_JSON_OBJECT:
        expect_members(value, loaded);
        break;
    case MCPX_JSON_ARRAY:
        expect_items(value, loaded);
        break;
    default:
        scalar = json_loadb(value.text, value.len, FLAGS, NULL);
        cr_expect(scalar && json_equal(scalar, loaded), "%.*s", (int)value.len, value.text);
        json_decref(scalar);
    }
}

Test(json_jansson, walks_find_the_same_values_in_random_texts)
{
    uint64_t state = UINT64_C(0x6d63707820763032);
    int compared = 0;

    for (int i = 0; i < 20000; i++) {
        char text[TEXT_MAX];
        struct mcpx_slice value = {text, random_json(&state, text, sizeof text)};
        json_t *loaded;

        cr_assert_eq(mcpx_json_check(value, 0, &value, NULL), MCPX_OK);
        loaded = json_loadb(value.text, value.len, FLAGS, NULL);
        if (loaded)
            expect_equal(value, loaded);
        compared += loaded != NULL;
        json_decref(loaded);
    }
    cr_expect_gt(compared, 19000, "%d", compared);
}

/* The text of a value as jansson writes it: other escapes, no space, members sorted. */
static char *rewritten(const json_t *loaded, int i)
{
    size_t flags = JSON_ENCODE_ANY | (i % 2 ? JSON_SORT_KEYS : 0) |
                   (i % 3 ? JSON_ENSURE_ASCII : JSON_ESCAPE_SLASH) | JSON_COMPACT;

    return json_dumps(loaded, flags);
}

static bool holds_number(const json_t *value)
{
    const char *name;
    const json_t *inner;
    size_t i;

    if (json_is_array(value))
        for (i = 0; i < json_array_size(value); i++)
            if (holds_number(json_array_get(value, i)))
                return true;
    json_object_foreach((json_t *)value, name, inner) {
        if (holds_number(inner))
            return true;
    }
    return json_is_number(value);
}

/* Numbers are compared by their bytes and doubles never, so such texts are left out. */
Test(json_jansson, what_it_writes_again_means_the_same)
{
    uint64_t state = UINT64_C(0x6d63707820763033);
    int compared = 0;

    for (int i = 0; i < 40000; i++) {
        char text[TEXT_MAX], *again;
        struct mcpx_slice value = {text, random_json(&state, text, sizeof text)};
        json_t *loaded =
            json_loadb(value.text, value.len, FLAGS | JSON_REJECT_DUPLICATES, NULL);

        cr_assert_eq(mcpx_json_check(value, 0, &value, NULL), MCPX_OK);
        if (loaded && !holds_number(loaded)) {
            again = rewritten(loaded, i);
            cr_expect(mcpx_json_same(value, mcpx_slice_of(again)), "%.*s and %s",
                      (int)value.len, value.text, again);
            free(again);
            compared++;
        }
        json_decref(loaded);
    }
    cr_expect_gt(compared, 5000, "%d", compared);
}

/* Returns 1 when the file was compared. */
static int compare_file(const char *folder, const char *name)
{
    static char text[400000];
    char path[8192];
    struct mcpx_slice value = {text, 0};
    json_t *loaded = NULL;
    FILE *file;
    int compared;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = name[0] == '.' ? NULL : fopen(path, "rb");
    if (!file)
        return 0;
    value.len = fread(text, 1, sizeof text, file);
    fclose(file);
    if (mcpx_json_check(value, 0, &value, NULL) == MCPX_OK)
        loaded = json_loadb(value.text, value.len, FLAGS, NULL);
    if (loaded)
        expect_equal(value, loaded);
    compared = loaded != NULL;
    json_decref(loaded);
    return compared;
}

Test(json_jansson, walks_find_the_same_values_in_JSONTestSuite)
{
    const char *given = getenv("MCPX_JSON_SUITE"), *source = getenv("MCPX_SOURCE_DIR");
    char folder[4096];
    struct dirent *entry;
    DIR *suite;
    int compared = 0;

    if (given)
        snprintf(folder, sizeof folder, "%s/test_parsing", given);
    else
        snprintf(folder, sizeof folder, "%s/../shared/suites/JSONTestSuite/test_parsing",
                 source ? source : ".");
    suite = opendir(folder);
    if (!suite) {
        printf("SKIP: no JSONTestSuite at %s; set MCPX_JSON_SUITE to run it\n", folder);
        cr_skip("no JSONTestSuite at %s", folder);
    }
    while ((entry = readdir(suite)))
        compared += compare_file(folder, entry->d_name);
    closedir(suite);
    printf("JSONTestSuite: %d files compared\n", compared);
    cr_expect_gt(compared, 90, "only %d files", compared);
}
