/*
 * vectors.c - rows become documents. jansson makes them, which cannot hold every number: a row with
 * such a number has the whole text.
 */
#include "tests/unit/contract/vectors.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { PART_MAX = 128 };

void vectors_open(struct vectors *vectors, const char *contract)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/tests/unit/contract/vectors/%s.jsonl",
             getenv("MCPX_SOURCE_DIR"), contract);
    *vectors = (struct vectors){.file = fopen(path, "r")};
    cr_assert_not_null(vectors->file, "no vectors: %s", path);
}

/* The container that a pointer's last part is in; makes objects on the way. */
static json_t *find_place(json_t *document, const char *pointer, char last[PART_MAX])
{
    while (*pointer == '/') {
        size_t len = strcspn(pointer + 1, "/");
        json_t *next;

        cr_assert_lt(len, PART_MAX);
        memcpy(last, pointer + 1, len);
        last[len] = '\0';
        pointer += 1 + len;
        if (*pointer == '\0')
            break;
        next = json_is_array(document) ? json_array_get(document, strtoul(last, NULL, 10))
                                       : json_object_get(document, last);
        if (!next)
            json_object_set_new(document, last, next = json_object());
        document = next;
    }
    return document;
}

static void set(json_t *document, const char *pointer, json_t *value)
{
    char last[PART_MAX];
    json_t *place = find_place(document, pointer, last);
    int failed = json_is_array(place)
                     ? json_array_set_new(place, strtoul(last, NULL, 10), value)
                     : json_object_set_new(place, last, value);

    cr_assert_eq(failed, 0, "cannot set %s", pointer);
}

static json_t *repeated(const char *character, json_int_t count)
{
    size_t len = strlen(character), total = len * (size_t)count;
    char *text = malloc(total + 1);
    json_t *value;

    for (size_t at = 0; at < total; at += len)
        memcpy(text + at, character, len);
    value = json_stringn(text, total);
    free(text);
    return value;
}

static json_t *make(const struct vectors *vectors)
{
    const char *with = json_string_value(json_object_get(vectors->row, "with"));
    json_t *document = json_deep_copy(vectors->base), *value;
    const char *pointer;
    size_t i;

    json_object_foreach(json_object_get(vectors->row, "set"), pointer, value)
        set(document, pointer, json_deep_copy(value));
    json_array_foreach(json_object_get(vectors->row, "drop"), i, value)
    {
        char last[PART_MAX];
        json_t *place = find_place(document, json_string_value(value), last);

        cr_assert_eq(json_object_del(place, last), 0, "nothing to drop at %s",
                     json_string_value(value));
    }
    json_object_foreach(json_object_get(vectors->row, "fill"), pointer, value)
        set(document, pointer,
            repeated(with ? with : "\U0001f600", json_integer_value(value)));
    return document;
}

/* Frees what is of one row alone. */
static void forget_row(struct vectors *vectors, struct vector *row)
{
    free(row->text);
    json_decref(vectors->row);
    vectors->row = NULL;
    *row = (struct vector){.number = 0};
}

bool vectors_next(struct vectors *vectors, struct vector *out)
{
    json_t *error, *base, *document;

    forget_row(vectors, out);
    if (getline(&vectors->line, &vectors->size, vectors->file) < 0) {
        fclose(vectors->file);
        free(vectors->line);
        json_decref(vectors->base);
        return false;
    }
    vectors->row = json_loads(vectors->line, 0, NULL);
    cr_assert_not_null(vectors->row, "no JSON: %s", vectors->line);
    base = json_object_get(vectors->row, "base");
    if (base) {
        json_decref(vectors->base);
        vectors->base = json_incref(base);
    }
    document = make(vectors);
    error = json_object_get(vectors->row, "error");
    *out = (struct vector){
        .number = ++vectors->number,
        .requirement = json_string_value(json_object_get(vectors->row, "for")),
        .path = json_string_value(json_array_get(error, 0)),
        .keyword = json_string_value(json_array_get(error, 1)),
        .errors = (size_t)json_integer_value(json_object_get(vectors->row, "errors")),
    };
    if (json_object_get(vectors->row, "text"))
        out->text = strdup(json_string_value(json_object_get(vectors->row, "text")));
    else
        out->text = json_dumps(document, JSON_ENCODE_ANY);
    json_decref(document);
    return true;
}
