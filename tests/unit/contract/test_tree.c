/*
 * test_tree.c - an indexed text: what is found where, what is ambiguous, what is refused.
 */
#include "lib/base/scoped.h"
#include "lib/json/tree.h"

#include <criterion/criterion.h>

#include <stdlib.h>

static const struct {
    const char *text;
    const char *pointer;
    const char *found; /* NULL: leads nowhere */
} pointers[] = {
    {"7", "", "7"},
    {" [1, {\"a\" : [2,3]} ,4]", "/1/a/1", "3"},
    {"[1,[2],3]", "/2", "3"},
    {"[1,2]", "/2", NULL},
    {"[1,2]", "/01", NULL},
    {"[1,2]", "/-", NULL},
    {"{\"a/b\":1,\"m~n\":2,\"\":3}", "/a~1b", "1"},
    {"{\"a/b\":1,\"m~n\":2,\"\":3}", "/m~0n", "2"},
    {"{\"a/b\":1,\"m~n\":2,\"\":3}", "/", "3"},
    {"{\"a\":1}", "/~2", NULL},
    {"{\"a\":1}", "a", NULL},
    {"{\"\\u0061bcdefgh\\u0069\":{\"x\":null}}", "/abcdefghi/x", "null"},
    {"{\"0\":[]}", "/0", "[]"},
    {"{\"a\":{\"b\":{}},\"c\":1e400}", "/c", "1e400"},
};

Test(tree, finds_values_by_pointer)
{
    struct mx_tree tree = {0};

    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
        uint32_t node = 0;
        bool found;

        cr_assert(mx_tree_read(&tree, mcpx_slice_of(pointers[i].text), NULL) == MCPX_OK);
        found = mx_tree_point(&tree, 0, mcpx_slice_of(pointers[i].pointer), &node);
        cr_expect(found == (pointers[i].found != NULL), "row %zu", i);
        if (found)
            cr_expect(
                mcpx_slice_equal(mx_tree_bytes(&tree, node), mcpx_slice_of(pointers[i].found)),
                "row %zu", i);
    }
    mx_tree_fini(&tree);
}

static const struct {
    const char *text;
    const char *paths; /* of ambiguous nodes, a blank after each */
} ambiguous[] = {
    {"{\"a\":1,\"b\":1,\"a\":2}", "/a "},
    {"{\"a\":1,\"\\u0061\":2}", "/a "},
    {"[{\"x\":{\"k\":1,\"k\":1,\"k\":1}}]", "/0/x/k /0/x/k "},
    {"{\"a\":{\"a\":{\"a\":1}}}", ""},
    {"[\"\\ud800\",\"\\ud83d\\ude00\",\"\\udc00x\"]", "/0 /2 "},
    {"{\"\\ud800\":1}", "/\xef\xbf\xbd "},
    {"[1e999999999,1e1000000000,1E+0000000001,1e-1234567890,1234567890,0.1234567890]",
     "/1 /2 /3 "},
};

Test(tree, marks_what_two_readers_could_read_differently)
{
    struct mx_tree tree = {0};
    mx_scoped_text paths = {0};

    for (size_t i = 0; i < sizeof ambiguous / sizeof *ambiguous; i++) {
        mcpx_text_reset(&paths);
        cr_assert(mx_tree_read(&tree, mcpx_slice_of(ambiguous[i].text), NULL) == MCPX_OK);
        for (uint32_t at = 0; at < tree.count; at++) {
            if (!tree.nodes[at].ambiguous)
                continue;
            mx_tree_path(&tree, at, &paths);
            mcpx_text_puts(&paths, " ");
        }
        cr_expect(mcpx_slice_equal(mcpx_text_view(&paths), mcpx_slice_of(ambiguous[i].paths)),
                  "row %zu: %s", i, paths.text ? paths.text : "");
        cr_expect(tree.ambiguous == (ambiguous[i].paths[0] != 0), "row %zu", i);
    }
    mx_tree_fini(&tree);
}

/* An object with `count` members, the names a number each; the last stands twice if asked. */
static void write_object(struct mcpx_text *out, int count, bool twice)
{
    mcpx_text_reset(out);
    mcpx_text_puts(out, "{");
    for (int i = 0; i < count; i++) {
        mcpx_text_puts(out, i ? ",\"name-" : "\"name-");
        mcpx_text_number(out, i);
        mcpx_text_puts(out, "\":[]");
    }
    mcpx_text_puts(out, twice ? ",\"name-0\":0}" : "}");
}

Test(tree, notices_names_twice_among_many)
{
    struct mx_tree tree = {0};
    mx_scoped_text text = {0};

    for (int count = 1; count < 3000; count = count * 2 + 1) {
        write_object(&text, count, false);
        cr_assert(mx_tree_read(&tree, mcpx_text_view(&text), NULL) == MCPX_OK);
        cr_expect(!tree.ambiguous, "%d members", count);
        cr_expect(tree.nodes[0].count == (uint32_t)count);
        write_object(&text, count, true);
        cr_assert(mx_tree_read(&tree, mcpx_text_view(&text), NULL) == MCPX_OK);
        cr_expect(tree.ambiguous, "%d members", count);
        cr_expect(tree.nodes[tree.count - 2].ambiguous, "%d members", count);
    }
    mx_tree_fini(&tree);
}

static const struct {
    const char *text;
    enum mcpx_err err;
    size_t offset;
} refused[] = {
    {"", MCPX_EINVALID, 0},           {"[1,2", MCPX_EINVALID, 4},
    {"[1,]", MCPX_EINVALID, 3},       {"{\"a\" 1}", MCPX_EINVALID, 5},
    {"{\"a\":1,}", MCPX_EINVALID, 7}, {"[1}", MCPX_EINVALID, 2},
    {"01", MCPX_EINVALID, 1},         {"-", MCPX_EINVALID, 1},
    {"1 2", MCPX_EINVALID, 2},        {"\"\xff\"", MCPX_EUTF8, 1},
    {"nul", MCPX_EINVALID, 3},        {"{a:1}", MCPX_EINVALID, 1},
};

Test(tree, refuses_what_is_no_json)
{
    struct mx_tree tree = {0};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct mcpx_fault fault = {0};

        cr_expect(mx_tree_read(&tree, mcpx_slice_of(refused[i].text), &fault) ==
                      refused[i].err,
                  "row %zu", i);
        cr_expect(fault.reason && fault.offset == refused[i].offset, "row %zu: %zu", i,
                  fault.offset);
    }
    mx_tree_fini(&tree);
}

Test(tree, takes_512_levels_and_no_more)
{
    struct mx_tree tree = {0};
    mx_scoped_text text = {0};

    for (int depth = 512; depth <= 513; depth++) {
        mcpx_text_reset(&text);
        for (int i = 0; i < depth; i++)
            mcpx_text_puts(&text, "[");
        for (int i = 0; i < depth; i++)
            mcpx_text_puts(&text, "]");
        cr_expect(mx_tree_read(&tree, mcpx_text_view(&text), NULL) ==
                  (depth == 512 ? MCPX_OK : MCPX_EINVALID));
    }
    mx_tree_fini(&tree);
}
