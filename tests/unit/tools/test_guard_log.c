/*
 * What breaks for whom: whoever watches the guard reads lines with text that others wrote; such a
 * text must neither end its line nor pass for another part of it.
 */
#include "lib/json/json_write.h"
#include "tools/mcpx-bridge/guard/guard.h"

#include <criterion/criterion.h>

static void judge_begin(struct guard_judge *judge, const char *from, const char *kind)
{
    guard_judge_init(judge, NULL);
    judge->envelope.from = mcpx_slice_of(from);
    judge->envelope.kind.text = mcpx_slice_of(kind);
    judge->envelope.id = MCPX_SLICE("e\"1");
}

Test(guard_log, quotes_and_escapes_what_others_wrote)
{
    struct guard_judge judge;
    mx_scoped_text text = {0}, json = {0};

    judge_begin(&judge, "mallory from=\"admin\"\n\xc2\x9b", "chat");
    guard_log_left_out(&text, false, GUARD_DISGUISE, &judge);
    cr_expect_str_eq(text.text,
                     "guard: left out (disguised): its payload could be taken for an MCP "
                     "message; from=\"mallory from=\\\"admin\\\"\\n\\u009b\" kind=\"chat\" "
                     "id=\"e\\\"1\"\n");
    guard_log_left_out(&json, true, GUARD_DISGUISE, &judge);
    cr_expect_str_eq(json.text,
                     "{\"event\":\"left_out\",\"reason\":\"disguised\",\"text\":\"its "
                     "payload could be taken for an MCP message\","
                     "\"from\":\"mallory from=\\\"admin\\\"\\n\xc2\x9b\","
                     "\"kind\":\"chat\",\"id\":\"e\\\"1\"}\n");
    guard_judge_fini(&judge);
}

Test(guard_log, says_what_it_knows_and_no_more)
{
    struct guard_judge judge;
    mx_scoped_text text = {0}, json = {0};

    judge_begin(&judge, NULL, NULL);
    judge.fault.reason = "expected '}'";
    guard_log_left_out(&text, false, GUARD_TEXT, &judge);
    cr_expect_str_eq(text.text,
                     "guard: left out (malformed): it is not a valid envelope: expected "
                     "'}'\n");
    guard_log_left_out(&json, true, GUARD_TEXT, &judge);
    cr_expect_str_eq(json.text,
                     "{\"event\":\"left_out\",\"reason\":\"malformed\",\"text\":\"it is not a "
                     "valid envelope\",\"detail\":\"expected '}'\"}\n");
    guard_judge_fini(&judge);
}

Test(guard_log, sums_up_what_was_left_out)
{
    size_t none[GUARD_VERDICT_COUNT] = {0},
           some[GUARD_VERDICT_COUNT] = {
               [GUARD_PASS] = 9, [GUARD_ECHO] = 2, [GUARD_SENDER] = 1};
    mx_scoped_text out = {0};

    guard_log_summary(&out, false, none);
    guard_log_summary(&out, true, none);
    guard_log_summary(&out, false, some);
    guard_log_summary(&out, true, some);
    cr_expect_str_eq(out.text,
                     "guard: left out nothing\n"
                     "{\"event\":\"summary\",\"left_out\":{}}\n"
                     "guard: left out echo 2, other_sender 1\n"
                     "{\"event\":\"summary\",\"left_out\":{\"echo\":2,\"other_sender\":1}}\n");
}

Test(guard_log, notes_stay_on_one_line)
{
    mx_scoped_text plain = guard_log_note(false, "failed", mx_formatted("%s", "two\nlines"));
    mx_scoped_text json = guard_log_note(true, "failed", mx_formatted("%s", "two\nlines"));

    cr_expect_str_eq(plain.text, "guard: two\\u000alines\n");
    cr_expect_str_eq(json.text, "{\"event\":\"failed\",\"text\":\"two\\nlines\"}\n");
}
