/*
 * What breaks for whom: a log file full of escape sequences, or a terminal without colours whose
 * owner asked for them.
 */
#include "tools/common/colour.h"

#include <criterion/criterion.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

Test(colour, follows_the_customs)
{
    static const struct {
        struct colour_reasons reasons; /* option, NO_COLOR, CLICOLOR_FORCE, TERM, tty */
        bool wanted;
    } rows[] = {
        {{NULL, NULL, NULL, "xterm", true}, true},
        {{NULL, NULL, NULL, "xterm", false}, false},
        {{NULL, NULL, NULL, "dumb", true}, false},
        {{NULL, NULL, NULL, NULL, true}, true},
        {{NULL, "1", NULL, "xterm", true}, false},
        {{NULL, "", NULL, "xterm", true}, true},
        {{NULL, NULL, "1", "xterm", false}, true},
        {{NULL, NULL, "0", "xterm", false}, false},
        {{NULL, NULL, "", "xterm", false}, false},
        {{NULL, "1", "1", "xterm", true}, false},
        {{"always", "1", NULL, "dumb", false}, true},
        {{"never", NULL, "1", "xterm", true}, false},
        {{"auto", NULL, NULL, "xterm", true}, true},
        {{"auto", "1", NULL, "xterm", true}, false},
    };

    for (size_t i = 0; i < LENGTH(rows); i++)
        cr_expect_eq(colour_is_wanted(&rows[i].reasons), rows[i].wanted, "row %zu", i);
}

Test(colour, paints_only_when_on)
{
    struct mcpx_text out = {0};

    paint_begin(&out, PAINT_BAD, false);
    paint_end(&out, PAINT_BAD, false);
    paint_begin(&out, PAINT_NONE, true);
    paint_end(&out, PAINT_NONE, true);
    cr_expect_eq(out.len, 0);
    paint_begin(&out, PAINT_BAD, true);
    mcpx_text_puts(&out, "x");
    paint_end(&out, PAINT_BAD, true);
    cr_expect_str_eq(out.text, "\x1b[31mx\x1b[0m");
    mcpx_text_fini(&out);
}
