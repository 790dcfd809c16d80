/*
 * What breaks for whom: a host that is told something it does not know runs the tool, or an
 * approver sees another command than the one that runs.
 */
#include "tests/support/rows.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/hook.h"

#include <criterion/criterion.h>

/* [HOST ]JSON; the proposal's params, or why it is refused; the answers to yes, no and nobody. */
static void expect_hook(char *const row[ROW_COLUMNS])
{
    char *json = strchr(row[0], '{');
    mx_scoped_text host = {0}, proposal = {0}, expected = {0}, answers = {0};
    const struct hook_form *form = NULL;
    const char *fault;

    mcpx_text_add(&host, row[0], json > row[0] ? (size_t)(json - row[0] - 1) : 0);
    fault = hook_read(host.len > 0 ? host.text : NULL, mcpx_slice_of(json), &form, &proposal);
    if (fault) {
        cr_expect_str_eq(fault, row[1], "%s", row[0]);
        return;
    }
    mx_format(&expected, "{\"method\":\"permission/ask\",\"params\":%s}", row[1]);
    cr_expect_str_eq(proposal.text, expected.text);
    for (int verdict = HOOK_ALLOW; verdict <= HOOK_ASK; verdict++) {
        mx_scoped_text answer = {0};

        hook_answer(&answer, form, (enum hook_verdict)verdict, MCPX_SLICE("\"why\""));
        mx_format(&answers, "%s%s", verdict ? "|" : "", &answer);
    }
    for (char *at = answers.text; (at = strchr(at, '\n'));)
        *at = ' ';
    cr_expect_str_eq(answers.text, row[2], "%s", row[0]);
}

Test(hook, hosts_are_read_and_answered_in_their_own_forms)
{
    rows_each("tools/rows/hook", "hooks", expect_hook);
}
