/*
 * What breaks for whom: the router and a client's JSON library disagree about what is JSON, and a
 * message that one of them takes cannot be read by the other. RFC 8259. Protocol: section 1.
 *
 * Walks JSONTestSuite (y_ must be accepted, n_ refused, i_ either) when it lies at
 * $MCPX_JSON_SUITE or ../shared/suites/JSONTestSuite next to the sources, and says so when it
 * does not. test_scan.c covers the same ground without it.
 */
#include "lib/json/scan.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static DIR *open_suite(char path[4096])
{
    const char *given = getenv("MCPX_JSON_SUITE");
    const char *source = getenv("MCPX_SOURCE_DIR");

    if (given)
        snprintf(path, 4096, "%s/test_parsing", given);
    else
        snprintf(path, 4096, "%s/../shared/suites/JSONTestSuite/test_parsing",
                 source ? source : ".");
    return opendir(path);
}

static struct mcpx_slice read_file(const char *folder, const char *name)
{
    char path[8192];
    struct mcpx_slice text = {NULL, 0};
    char *bytes;
    long size;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    bytes = malloc(size ? (size_t)size : 1); /* exact, so that a read too far is seen */
    text.len = fread(bytes, 1, (size_t)size, file);
    text.text = bytes;
    fclose(file);
    return text;
}

/* Returns 1 for a file that counts, 0 for one that is none of the suite's. */
static int check_file(const char *folder, const char *name)
{
    struct mx_scan scan;
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_slice text;
    enum mcpx_err err;

    if (name[0] == '.' || name[1] != '_')
        return 0;
    text = read_file(folder, name);
    err = mx_scan(text, 0, &scan, &fault);
    if (name[0] == 'y')
        cr_expect_eq(err, MCPX_OK, "%s: %s at %zu", name, fault.reason, fault.offset);
    if (name[0] == 'n')
        cr_expect_neq(err, MCPX_OK, "%s was accepted", name);
    if (err)
        cr_expect_leq(fault.offset, text.len, "%s", name);
    free((char *)text.text);
    return 1;
}

Test(scan_suite, agrees_with_JSONTestSuite)
{
    char folder[4096];
    DIR *suite = open_suite(folder);
    struct dirent *entry;
    int files = 0;

    if (!suite) {
        printf("SKIP: no JSONTestSuite at %s; set MCPX_JSON_SUITE to run it\n", folder);
        cr_skip("no JSONTestSuite at %s", folder);
    }
    while ((entry = readdir(suite)))
        files += check_file(folder, entry->d_name);
    closedir(suite);
    printf("JSONTestSuite: %d files\n", files);
    cr_expect_gt(files, 300, "only %d files", files);
}
