/*
 * fuzz_json.c - any bytes that are a JSON text: what is found in it by walking is what jansson
 * finds, it is the same as itself, and an object with a few changes made is the one that jansson
 * makes of it, all other bytes kept. Bytes that are no JSON text are walked through too.
 */
#include "lib/base/scoped.h"
#include "tests/fuzz/fuzz.h"

#include <mcpx/json.h>

#include <jansson.h>
#include <stdlib.h>

/* NULL where jansson cannot hold the value: see jansson_judge.h. */
static json_t *load(struct mcpx_slice text)
{
    return json_loadb(text.text, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

static void check_string(struct mcpx_slice value, const json_t *loaded)
{
    struct mcpx_slice text = {json_string_value(loaded), json_string_length(loaded)};
    mx_scoped_text out = {0};

    must(mcpx_json_equals(value, text));
    must(mcpx_json_add_unescaped(&out, value));
    must(out.failed || mcpx_slice_equal(mcpx_text_view(&out), text));
    mcpx_text_reset(&out);
    mcpx_json_add_string(&out, text);
    must(out.failed || mcpx_json_same(mcpx_text_view(&out), value));
}

static void check_type(struct mcpx_slice value, const json_t *loaded)
{
    enum mcpx_json_type type = mcpx_json_type(value);

    must(json_is_string(loaded) == (type == MCPX_JSON_STRING));
    must(json_is_number(loaded) == (type == MCPX_JSON_NUMBER));
    must(json_is_object(loaded) == (type == MCPX_JSON_OBJECT));
    must(json_is_array(loaded) == (type == MCPX_JSON_ARRAY));
    must(json_is_boolean(loaded) == (type == MCPX_JSON_BOOL));
    must(json_is_null(loaded) == (type == MCPX_JSON_NULL));
    if (type == MCPX_JSON_STRING)
        check_string(value, loaded);
}

/* The name of the walk's member as jansson has it, to be freed. */
static char *name_of(const struct mcpx_json_walk *walk)
{
    struct mcpx_text name = {0};

    must(mcpx_json_add_unescaped(
        &name, (struct mcpx_slice){walk->name.text - 1, walk->name.len + 2}));
    must(!name.failed && strlen(name.text) == name.len);
    must(mcpx_json_walk_at(walk, name.text));
    return name.text;
}

static void check_member(struct mcpx_slice object, const struct mcpx_json_walk *walk,
                         const json_t *loaded)
{
    char *name = name_of(walk);
    size_t count = mcpx_json_count(object, name);
    struct mcpx_slice first = mcpx_json_get(object, name);

    must(count >= 1 && first.text && first.text <= walk->value.text);
    if (count == 1) {
        must(first.text == walk->value.text);
        check_type(walk->value, json_object_get(loaded, name));
    }
    free(name);
}

static void check_walk(struct mcpx_slice value, const json_t *loaded)
{
    struct mcpx_json_walk walk;
    size_t steps = 0;

    mcpx_json_walk_start(&walk, value);
    while (mcpx_json_walk_next(&walk)) {
        struct mcpx_slice part = {NULL, 0};

        must(mcpx_json_check(walk.value, 0, &part, NULL) == MCPX_OK);
        must(part.text == walk.value.text && part.len == walk.value.len);
        if (json_is_object(loaded))
            check_member(value, &walk, loaded);
        if (json_is_array(loaded))
            check_type(walk.value, json_array_get(loaded, steps));
        steps++;
    }
    if (json_is_array(loaded))
        must(steps == json_array_size(loaded));
    if (json_is_object(loaded))
        must(steps >= json_object_size(loaded));
}

/* "id" gets another value, "drop" goes, "new" comes or gets another value. */
static void check_edit(struct mcpx_slice object, json_t *loaded)
{
    static const struct mcpx_json_change changes[] = {
        {"id", {"{\"x\":1}", 7}}, {"drop", {NULL, 0}}, {"new", {"\"\\u00e9\"", 8}}};
    mx_scoped_text out = {0}, again = {0};
    struct mcpx_slice value = {NULL, 0};
    json_t *edited, *wanted[2] = {json_pack("{s:i}", "x", 1), json_string("\xc3\xa9")};

    mcpx_json_add_changed(&out, object, changes, 3);
    must(!out.failed && mcpx_json_check(mcpx_text_view(&out), 0, &value, NULL) == MCPX_OK);
    must(value.len == out.len);
    must(mcpx_json_count(value, "drop") == 0 && mcpx_json_count(value, "new") >= 1);
    must(mcpx_json_same(mcpx_json_get(value, "id"), changes[0].value));
    mcpx_json_add_changed(&again, value, changes, 3);
    must(mcpx_slice_equal(mcpx_text_view(&again), value)); /* made once is made */
    if (loaded && mcpx_json_count(object, "id") < 2 && mcpx_json_count(object, "new") < 2) {
        json_object_set(loaded, "id", wanted[0]);
        json_object_del(loaded, "drop");
        json_object_set(loaded, "new", wanted[1]);
        edited = load(value);
        must(edited && json_equal(edited, loaded));
        json_decref(edited);
    }
    json_decref(wanted[0]);
    json_decref(wanted[1]);
}

/* Each byte is kept where nothing is changed. */
static void check_copy(struct mcpx_slice object)
{
    static const struct mcpx_json_change none = {"\x01", {NULL, 0}};
    mx_scoped_text out = {0};

    mcpx_json_add_changed(&out, object, &none, 1);
    must(out.failed || mcpx_slice_equal(mcpx_text_view(&out), object) ||
         mcpx_json_count(object, none.name) > 0);
}

static void walk_through(struct mcpx_slice text)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, text);
    while (mcpx_json_walk_next(&walk)) {
        must(walk.value.text >= text.text);
        must(walk.value.text + walk.value.len <= text.text + text.len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice text = {(const char *)data, size}, value = {NULL, 0};
    json_t *loaded;

    if (mcpx_json_check(text, 200, &value, NULL)) {
        walk_through(text);
        return 0;
    }
    loaded = load(value);
    if (loaded)
        check_type(value, loaded);
    check_walk(value, loaded);
    must(mcpx_json_same(value, value));
    if (mcpx_json_type(value) == MCPX_JSON_OBJECT) {
        check_copy(value);
        check_edit(value, loaded);
    }
    json_decref(loaded);
    return 0;
}
