/*
 * What breaks for whom: who mistypes a grant or an option is told of another one than was meant, or
 * of none.
 */
#include "lib/base/match.h"

#include <criterion/criterion.h>

static const struct mx_typo_costs plain = {.edit = 1, .swap = 1};
static const struct mx_typo_costs grants = {
    .edit = 2, .swap = 1, .border = '/', .star = '*', .any_case = true};

Test(typo, costs_the_least_and_is_put_right)
{
    static const struct {
        const struct mx_typo_costs *costs;
        const char *word, *name;
        size_t cost;
        const char *meant;
    } rows[] = {
        {&plain, "topic", "topic", 0, "topic"},
        {&plain, "", "to", 2, "to"},
        {&plain, "to", "", 2, ""},
        {&plain, "topc", "topic", 1, "topic"},
        {&plain, "toppic", "topic", 1, "topic"},
        {&plain, "topix", "topic", 1, "topic"},
        {&plain, "tpoic", "topic", 1, "topic"},
        {&plain, "tpoix", "topic", 2, "topic"},
        {&plain, "TOPIC", "topic", 5, "topic"},
        {&plain, "to*", "topic", 3, "topic"},
        {&plain, "a/b", "ab", 1, "ab"},
        {&grants, "topc", "topic", 2, "topic"},
        {&grants, "tpoic", "topic", 1, "topic"},
        {&grants, "TPOIC", "topic", 1, "topic"},
        {&grants, "TOPIC", "topic", 0, "topic"},
        {&grants, "[]", "{}", 4, "{}"},
        {&grants, "to*", "topic", 0, "to*"},
        {&grants, "*", "", 0, "*"},
        {&grants, "tols*", "tools/list", 2, "tools*"},
        {&grants, "*/lsit", "tools/list", 1, "*/list"},
        {&grants, "a/b", "ab", MX_TYPO_FAR, "ab"},
        {&grants, "ab", "a/b", MX_TYPO_FAR, "a/b"},
        {&grants, "a/b", "axb", MX_TYPO_FAR, "axb"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_text out = {0};
        struct mx_typo typo;

        cr_expect_eq(mx_typo_compare(&typo, rows[i].costs, mcpx_slice_of(rows[i].word),
                                     mcpx_slice_of(rows[i].name)),
                     rows[i].cost, "%s for %s", rows[i].word, rows[i].name);
        mx_typo_write_meant(&typo, &out);
        cr_expect_str_eq(out.text, rows[i].meant, "%s for %s", rows[i].word, rows[i].name);
        mcpx_text_fini(&out);
    }
}
