/*
 * What breaks for whom: a participant that comes back for ever though each attempt ends as the last
 * one did, or that gives up though another attempt would have got through.
 * Protocol: sections 6 and 7.
 */
#include <mcpx/error.h>

#include <criterion/criterion.h>

#define ROW(constant, text, wire, close_code, status, again)                                  \
    {#constant, close_code, status, MCPX_AGAIN_##again},

static const struct {
    const char *name;
    int close_code, status;
    enum mcpx_again again;
} rows[] = {MCPX_ERRORS(ROW)};

Test(error, rows_of_the_same_code_say_the_same)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int codes[] = {rows[i].close_code, rows[i].status};

        for (size_t j = 0; j < 2; j++)
            cr_expect(!codes[j] || mcpx_error_again(codes[j]) == rows[i].again,
                      "%s: after %d another row says otherwise", rows[i].name, codes[j]);
    }
}

Test(error, a_code_without_a_row_may_be_tried_again)
{
    static const int codes[] = {0, 1005, 1006, 1012, 1013, 4000, 200, 302, 502, -1};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        cr_expect_eq(mcpx_error_again(codes[i]), MCPX_AGAIN_YES, "%d", codes[i]);
}
