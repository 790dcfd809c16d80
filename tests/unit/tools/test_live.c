/* What breaks for whom: after Ctrl-C a verb goes on waiting for a pager that reads no more. */
#include "tools/mcpxctl/core/live.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

Test(live, a_write_that_begins_after_the_signal_ends, .timeout = 60)
{
    static const struct command command = {.name = "watch", .options = no_options};
    static char text[1 << 20];
    struct arguments arguments = {.command = &command};
    struct live live;
    int ends[2];

    setenv("MCPX_URL", "nowhere", 1);
    cr_assert_neq(live_join_to_watch(&arguments, 0, &live), STATUS_OK);
    cr_assert_eq(pipe(ends), 0);
    raise(SIGINT);
    while (write(ends[1], text, sizeof text) > 0)
        continue;
    cr_assert_eq(errno, EINTR);
    live_leave(&live);
}
