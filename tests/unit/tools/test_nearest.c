/*
 * What breaks for whom: who mistypes an option is not told which one was meant, or is told of one
 * that has nothing to do with it.
 */
#include "tools/common/nearest.h"

#include <criterion/criterion.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const char *const names[] = {"--topic", "--to",  "--token-file", "--timeout",
                                    "--json",  "say",   "watch",        "proposals",
                                    "propose", "--url", "who"};

Test(nearest, finds_the_name_that_was_meant)
{
    static const struct {
        const char *word;
        const char *name; /* NULL = none is near */
    } rows[] = {
        {"--topc", "--topic"},
        {"--toppic", "--topic"},
        {"--tpoic", "--topic"},
        {"--topix", "--topic"},
        {"-topic", "--topic"},
        {"topic", "--topic"},
        {"--tipoc", "--topic"},
        {"--token", "--token-file"},
        {"--tokenfile", "--token-file"},
        {"--tmieout", "--timeout"},
        {"--josn", "--json"},
        {"sya", "say"},
        {"prop", "proposals"},
        {"proposes", "propose"},
        {"watsh", "watch"},
        {"wo", "--to"},
        {"--says", "say"},
        {"fly", NULL},
        {"--secret", NULL},
        {"", NULL},
        {"--", NULL},
        {"x", NULL},
        {"proposalsproposalsproposalsproposals", NULL},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct nearest nearest;

        nearest_begin(&nearest, rows[i].word, strlen(rows[i].word));
        for (size_t j = 0; j < LENGTH(names); j++)
            nearest_consider(&nearest, names[j]);
        if (rows[i].name)
            cr_expect(nearest.name && strcmp(nearest.name, rows[i].name) == 0, "%s is near %s",
                      rows[i].word, nearest.name ? nearest.name : "nothing");
        else
            cr_expect_null(nearest.name, "%s is near %s", rows[i].word, nearest.name);
    }
}

Test(nearest, says_so_or_nothing)
{
    struct nearest nearest;

    nearest_begin(&nearest, "--topc=secret", 6);
    cr_expect_str_eq(nearest_hint(&nearest), "");
    nearest_consider(&nearest, "--topic");
    cr_expect_str_eq(nearest_hint(&nearest), " (did you mean --topic?)");
}
