/*
 * What breaks for whom: a program branches on a code that docs/contracts.md names and the library
 * does not send, or is told of an error that the page does not know.
 */
#include "tests/conformance/page.h"

#include <mcpx/contract.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char page[] = "docs/contracts.md";

enum { FILE_MAX = 65536 };

/* A cell's first `code`; NULL when it has none. */
static const char *code_in(char *cell)
{
    return page_next_code(&cell);
}

static void expect_word(const char *in_page, const char *in_library, const char *row)
{
    cr_expect(in_page && in_library ? strcmp(in_page, in_library) == 0 : in_page == in_library,
              "%s: the page says %s, the library %s", row, in_page ? in_page : "none",
              in_library ? in_library : "none");
}

Test(contracts_page, has_the_canonical_codes_with_their_numbers)
{
    char *rest = page_rows_in(page, "| canonical code |"), *cells[PAGE_CELLS];
    int count = 0;

    for (; page_next_row(&rest, cells); count++) {
        const char *name = code_in(cells[0]);
        enum mcpx_code code;

        cr_assert(mcpx_code_find(mcpx_slice_of(name), &code), "there is no %s", name);
        cr_expect_eq(atoi(cells[1]), mcpx_code_status(code), "%s", name);
        cr_expect_eq(atoi(cells[2]), mcpx_code_rpc(code), "%s", name);
        expect_word(code_in(cells[3]), mcpx_code_message(code), name);
    }
    cr_expect_eq(count, MCPX_CODE_COUNT);
}

Test(contracts_page, has_the_causes_in_their_order)
{
    char *rest = page_rows_in(page, "| cause |"), *cells[PAGE_CELLS];
    int count = 0;

    for (; page_next_row(&rest, cells); count++) {
        enum mcpx_cause cause = (enum mcpx_cause)count;
        const char *name = code_in(cells[0]);

        expect_word(name, mcpx_cause_name(cause), "the order");
        expect_word(code_in(cells[1]), mcpx_code_name(mcpx_cause_code(cause)), name);
        expect_word(code_in(cells[2]), mcpx_cause_in_envelope(cause), name);
        expect_word(code_in(cells[3]), mcpx_cause_in_response(cause), name);
    }
    cr_expect_eq(count, MCPX_CAUSE_COUNT);
}

Test(contracts_page, has_the_contracts_and_says_whose_breach_it_is)
{
    char *rest = page_rows_in(page, "| contract |"), *cells[PAGE_CELLS];
    int count = 0;

    for (; page_next_row(&rest, cells); count++) {
        const char *name = code_in(cells[0]);
        enum mcpx_contract contract;

        cr_assert(mcpx_contract_find(mcpx_slice_of(name), &contract), "there is no %s", name);
        expect_word(code_in(cells[2]), mcpx_code_name(mcpx_contract_breach(contract)), name);
    }
    cr_expect_eq(count, MCPX_CONTRACT_COUNT);
}

/* Whether a number stands there whole: R000-1 is not in R000-10. */
static bool stands_in(const char *text, const char *number)
{
    const char *at = text;

    while ((at = strstr(at, number)) != NULL) {
        at += strlen(number);
        if (*at < '0' || *at > '9')
            return true;
    }
    return false;
}

/* True when a file of the tests has a requirement's number, as R000-5 or, in a name, as R000_5_. */
static bool bears(const char *file, const char *requirement)
{
    static char text[FILE_MAX];
    char path[4096], in_name[32];
    FILE *stream;

    snprintf(path, sizeof path, "%s/%s", getenv("MCPX_SOURCE_DIR"), file);
    stream = fopen(path, "r");
    cr_assert_not_null(stream, "there is no %s", path);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    snprintf(in_name, sizeof in_name, "%s_", requirement);
    *strchr(in_name, '-') = '_';
    return stands_in(text, requirement) || strstr(text, in_name);
}

Test(contracts_page, names_the_test_of_each_requirement)
{
    char *rest = page_rows_in(page, "| requirement |"), *cells[PAGE_CELLS];
    int count = 0;

    for (; page_next_row(&rest, cells); count++) {
        char requirement[16] = "";

        cr_assert_eq(sscanf(cells[0], " %15s", requirement), 1);
        cr_expect(bears(code_in(cells[2]), requirement), "%s is not where the page says",
                  requirement);
    }
    cr_expect_gt(count, 0);
}
