/*
 * suite_router.c - Criterion runs every test in a process of its own, so each has its own router.
 */
#include "tests/support/suite_router.h"

#include <criterion/criterion.h>

struct daemon router;

void suite_router_start(void)
{
    daemon_start_default(&router);
}

void suite_router_stop(void)
{
    cr_expect_eq(daemon_stop(&router), 0, "exit status; log: %s", router.log);
}
