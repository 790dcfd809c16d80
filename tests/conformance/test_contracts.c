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

/* True when a text has a requirement: R000-5, or in the name of a test R000_5, R000_4_5. */
static bool bears(const char *text, const char *document, long number)
{
    for (const char *at = strstr(text, document); at; at = strstr(at + 1, document)) {
        const char *next = at + strlen(document);
        char *end;

        while (*next == '-' || *next == '_') {
            long found = strtol(next + 1, &end, 10);

            if (end == next + 1)
                break;
            if (found == number)
                return true;
            next = end;
        }
    }
    return false;
}

static void expect_borne(const char *file, const char *document, long number)
{
    static char text[FILE_MAX];
    char path[4096];
    FILE *stream;

    snprintf(path, sizeof path, "%s/%s", getenv("MCPX_SOURCE_DIR"), file);
    stream = fopen(path, "r");
    cr_assert_not_null(stream, "there is no %s", path);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    cr_expect(bears(text, document, number), "%s-%ld is not in %s", document, number, file);
}

/* Requirements of the four documents that this project comes from: how many each has. */
static const struct {
    const char *document;
    int count;
    int not_built; /* with a reason: R000-22 is the subject of another specification */
} documents[] = {{"R000", 24, 22}, {"R001", 18, 0}, {"R002", 21, 0}, {"R004", 23, 0}};

Test(contract_requirements, have_tests_with_their_numbers)
{
    char *rest = page_rows_in("tests/conformance/requirements.txt", ""), *cells[PAGE_CELLS];

    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        for (int number = 1; number <= documents[i].count; number++) {
            char expected[16], requirement[16] = "";
            const char *file;

            if (number == documents[i].not_built)
                continue;
            snprintf(expected, sizeof expected, "%s-%d", documents[i].document, number);
            cr_assert(page_next_row(&rest, cells), "there is no row for %s", expected);
            cr_assert_eq(sscanf(cells[0], " %15s", requirement), 1);
            cr_assert_str_eq(requirement, expected);
            while ((file = page_next_code(&cells[2])))
                expect_borne(file, documents[i].document, number);
        }
    cr_expect(!page_next_row(&rest, cells));
}
