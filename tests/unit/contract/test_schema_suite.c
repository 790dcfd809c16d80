/*
 * What breaks for whom: a server and the edge in front of it read one schema in two ways, and a
 * call that one of them refuses passes the other.
 *
 * Every required test of JSON-Schema-Test-Suite, in both dialects: the copy that Debian ships
 * (package libtest-json-schema-acceptance-perl), and a newer one when it lies at $MCPX_SCHEMA_SUITE
 * or ../shared/suites/JSONSchemaTestSuite next to the sources. suite.txt says how many tests
 * each file has: a file that is not run, or shrinks, is a difference too.
 */
#include "lib/edge/file.h"
#include "lib/json/tree.h"

#include <mcpx/schema.h>

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define DEBIAN "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance"

/* A copy of the suite; `column` is that of 2020-12 in suite.txt, draft-07 is the next. */
struct suite {
    char folder[4096];
    int column;
    struct mcpx_text remotes[64]; /* lent to one compilation */
    size_t remote_count;
};

/* The suite's own documents, which it expects at http://localhost:1234/. */
static bool find_remote(void *context, struct mcpx_slice uri, struct mcpx_slice *text)
{
    static const char base[] = "http://localhost:1234/";
    struct suite *suite = context;
    struct mcpx_text *remote = &suite->remotes[suite->remote_count];
    char path[8192];

    if (uri.len < strlen(base) || memcmp(uri.text, base, strlen(base)) != 0)
        return false;
    snprintf(path, sizeof path, "%s/remotes/%.*s", suite->folder,
             (int)(uri.len - strlen(base)), uri.text + strlen(base));
    if (mx_file_read(path, SIZE_MAX, remote))
        return false;
    cr_assert_lt(++suite->remote_count, 64);
    *text = mcpx_text_view(remote);
    return true;
}

static void forget_remotes(struct suite *suite)
{
    while (suite->remote_count > 0)
        mcpx_text_fini(&suite->remotes[--suite->remote_count]);
}

static uint32_t member(const struct mx_tree *tree, uint32_t object, const char *name)
{
    uint32_t value = mx_tree_member(tree, object, mcpx_slice_of(name));

    cr_assert_neq(value, 0, "%s is missing", name);
    return value;
}

/* Runs the tests of one schema; returns how many there are. */
static int run_group(struct suite *suite, struct mcpx_shelf *shelf, enum mcpx_dialect dialect,
                     const struct mx_tree *tree, uint32_t group)
{
    struct mcpx_schema_options options = {
        .dialect = dialect, .find = find_remote, .context = suite};
    struct mcpx_slice about = mx_tree_bytes(tree, member(tree, group, "description"));
    uint32_t tests = member(tree, group, "tests");
    struct mcpx_schema_report report = {0};
    struct mcpx_schema *schema = NULL;
    enum mcpx_err err;

    err = mcpx_schema_compile(shelf, mx_tree_bytes(tree, member(tree, group, "schema")),
                              &options, &report, &schema);
    cr_expect_eq(err, MCPX_OK, "%.*s: unusable: %.*s", (int)about.len, about.text,
                 err ? (int)report.errors[0].message.len : 0, report.errors[0].message.text);
    MX_EACH_WHILE(!err, at, tree, tests, false) {
        struct mcpx_slice name = mx_tree_bytes(tree, member(tree, at, "description"));
        bool valid = mx_tree_bytes(tree, member(tree, at, "valid")).text[0] == 't';
        enum mcpx_err verdict = mcpx_schema_validate(
            schema, mx_tree_bytes(tree, member(tree, at, "data")), &report);

        cr_expect_eq(verdict, valid ? MCPX_OK : MCPX_EINVALID, "%.*s: %.*s", (int)about.len,
                     about.text, (int)name.len, name.text);
        cr_expect_eq(report.count > 0, !valid);
    }
    mcpx_schema_unref(schema);
    mcpx_schema_report_fini(&report);
    forget_remotes(suite);
    return (int)tree->nodes[tests].count;
}

/* Runs a file of the suite; returns how many tests it has. */
static int run_file(struct suite *suite, struct mcpx_shelf *shelf, enum mcpx_dialect dialect,
                    const char *path)
{
    struct mcpx_text text = {0};
    struct mx_tree tree = {0};
    int count = 0;

    cr_assert_null(mx_file_read(path, SIZE_MAX, &text), "%s", path);
    cr_assert_eq(mx_tree_read(&tree, mcpx_text_view(&text), NULL), MCPX_OK, "%s", path);
    for (uint32_t at = 1; at < mx_tree_next(&tree, 0); at = mx_tree_next(&tree, at))
        count += run_group(suite, shelf, dialect, &tree, at);
    mx_tree_fini(&tree);
    mcpx_text_fini(&text);
    return count;
}

/* The number of tests of a file: that column of its row in suite.txt, or 0. */
static int count_in_table(const struct mcpx_text *table, const char *name, int column)
{
    char start[300];
    const char *row;

    snprintf(start, sizeof start, "\n| `%s` |", name);
    row = strstr(table->text, start);
    if (!row)
        return 0;
    for (row += strlen(start) - 1; column > 0 && row; column--)
        row = strchr(row + 1, '|');
    return row ? atoi(row + 1) : 0;
}

static void run_dialect(struct suite *suite, enum mcpx_dialect dialect,
                        const struct mcpx_text *table)
{
    bool is_07 = dialect == MCPX_DIALECT_DRAFT_07;
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    int total = 0, column = suite->column + is_07;
    char folder[4200], path[8192];
    struct dirent *entry;
    DIR *list;

    cr_assert_not_null(shelf);
    snprintf(folder, sizeof folder, "%s/tests/%s", suite->folder,
             is_07 ? "draft7" : "draft2020-12");
    list = opendir(folder);
    cr_assert_not_null(list, "%s", folder);
    while ((entry = readdir(list)) != NULL) {
        int count;

        if (!strstr(entry->d_name, ".json"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        count = run_file(suite, shelf, dialect, path);
        cr_expect_eq(count, count_in_table(table, entry->d_name, column),
                     "suite.txt: %s has %d tests in %s", entry->d_name, count, folder);
        total += count;
    }
    cr_expect_eq(total, count_in_table(table, "all", column), "suite.txt: %d in %s", total,
                 folder);
    closedir(list);
    mcpx_shelf_free(shelf);
}

/* Runs a copy of the suite if it is there. */
static bool run_suite(struct suite *suite)
{
    const char *source = getenv("MCPX_SOURCE_DIR");
    struct mcpx_text table = {0};
    char path[4096];
    DIR *found = opendir(suite->folder);

    if (!found)
        return false;
    closedir(found);
    snprintf(path, sizeof path, "%s/tests/unit/contract/suite.txt", source ? source : ".");
    cr_assert_null(mx_file_read(path, SIZE_MAX, &table));
    run_dialect(suite, MCPX_DIALECT_2020_12, &table);
    run_dialect(suite, MCPX_DIALECT_DRAFT_07, &table);
    mcpx_text_fini(&table);
    return true;
}

Test(schema_suite, agrees_with_the_newer_copy)
{
    static struct suite suite = {.column = 0};
    const char *given = getenv("MCPX_SCHEMA_SUITE"), *source = getenv("MCPX_SOURCE_DIR");

    if (given)
        snprintf(suite.folder, sizeof suite.folder, "%s", given);
    else
        snprintf(suite.folder, sizeof suite.folder, "%s/../shared/suites/JSONSchemaTestSuite",
                 source ? source : ".");
    if (!run_suite(&suite)) {
        printf("SKIP: no JSON-Schema-Test-Suite at %s; set MCPX_SCHEMA_SUITE to run it\n",
               suite.folder);
        cr_skip_test();
    }
}

Test(schema_suite, agrees_with_the_copy_of_debian)
{
    static struct suite suite = {.folder = DEBIAN};

    suite.column = strcmp(MCPX_DEBIAN, "12") == 0 ? 2 : 4;
    cr_assert(run_suite(&suite), "install libtest-json-schema-acceptance-perl");
}
