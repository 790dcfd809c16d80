/*
 * fuzz_canonical.c - any bytes that are a JSON text: the canonical form is one too, means the same
 * and is its own form; and there is one exactly when the text is not ambiguous, which is found out
 * here by walking through it, and not by the index that the form is made from.
 */
#include <mcpx/digest.h>
#include <mcpx/json.h>

#include "lib/base/scoped.h"
#include "lib/json/number.h"
#include "tests/fuzz/fuzz.h"

enum { DEPTH = 512 };

/* A member's name as a string value. */
static struct mcpx_slice quoted(struct mcpx_slice name)
{
    return (struct mcpx_slice){name.text - 1, name.len + 2};
}

static bool is_whole(struct mcpx_slice string)
{
    struct mcpx_text text = {0};
    bool whole = mcpx_json_add_unescaped(&text, string);

    mcpx_text_fini(&text);
    return whole;
}

/* The value of the first member with this name; absent when there is none. */
static struct mcpx_slice member_of(struct mcpx_slice object, struct mcpx_slice name)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, object);
    while (mcpx_json_walk_next(&walk)) {
        if (mcpx_json_same(quoted(walk.name), quoted(name)))
            return walk.value;
    }
    return (struct mcpx_slice){NULL, 0};
}

static bool is_ambiguous(struct mcpx_slice value)
{
    struct mcpx_json_walk walk;
    struct mx_number number;

    if (mcpx_json_type(value) == MCPX_JSON_STRING)
        return !is_whole(value);
    if (mcpx_json_type(value) == MCPX_JSON_NUMBER)
        return !mx_number_read(value, &number);
    mcpx_json_walk_start(&walk, value);
    while (mcpx_json_walk_next(&walk)) {
        if (walk.name.text && (!is_whole(quoted(walk.name)) ||
                               member_of(value, walk.name).text != walk.value.text))
            return true;
        if (is_ambiguous(walk.value))
            return true;
    }
    return false;
}

static bool are_equal(struct mcpx_slice a, struct mcpx_slice b)
{
    struct mx_number in_a, in_b;

    return mx_number_read(a, &in_a) && mx_number_read(b, &in_b) &&
           mx_number_compare(&in_a, &in_b) == 0;
}

/* Walks through both; members of an object are looked up in the other. */
static void must_mean(struct mcpx_slice text, struct mcpx_slice form)
{
    struct mcpx_json_walk in_text, in_form;

    must(mcpx_json_type(text) == mcpx_json_type(form));
    must(mcpx_json_length(text) == mcpx_json_length(form));
    if (mcpx_json_type(text) == MCPX_JSON_NUMBER)
        must(are_equal(text, form));
    else if (mcpx_json_type(text) != MCPX_JSON_OBJECT &&
             mcpx_json_type(text) != MCPX_JSON_ARRAY)
        must(mcpx_json_same(text, form));
    mcpx_json_walk_start(&in_text, text);
    mcpx_json_walk_start(&in_form, form);
    while (mcpx_json_walk_next(&in_text) && mcpx_json_walk_next(&in_form))
        must_mean(in_text.value,
                  in_text.name.text ? member_of(form, in_text.name) : in_form.value);
}

static void check_form(struct mcpx_slice value, const struct mcpx_text *form)
{
    mx_scoped_text again = {0};
    struct mcpx_slice formed = {NULL, 0};
    char sum[MCPX_SHA256_LEN + 1], other[MCPX_SHA256_LEN + 1];

    must(mcpx_json_check(mcpx_text_view(form), DEPTH, &formed, NULL) == MCPX_OK);
    must(formed.len == form->len);
    must_mean(value, formed);
    must(mcpx_canonical_add(&again, formed, NULL) == MCPX_OK);
    must(mcpx_slice_equal(mcpx_text_view(&again), formed));
    must(mcpx_digest_json(value, sum, NULL) == MCPX_OK);
    must(mcpx_digest_bytes(formed, other) == MCPX_OK);
    must(strcmp(sum, other) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice text = {(const char *)data, size}, value = {NULL, 0};
    struct mcpx_text form = {0};
    struct mcpx_fault fault = {NULL, NULL, 0};
    enum mcpx_err err = mcpx_canonical_add(&form, text, &fault);
    enum mcpx_err checked = mcpx_json_check(text, DEPTH, &value, NULL);

    if (checked)
        must(err == checked);
    else
        must(err == (is_ambiguous(value) ? MCPX_EINVALID : MCPX_OK));
    if (err)
        must(form.len == 0 && fault.reason && fault.offset <= size);
    else
        check_form(value, &form);
    mcpx_text_fini(&form);
    return 0;
}
