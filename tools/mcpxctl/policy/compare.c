/*
 * compare.c - two configurations side by side, by the functions with which the router tells the
 * difference when it reads its own again. What would take a restart is only named here.
 */
#include "tools/mcpxctl/policy/policy.h"

#include "lib/core/json_write.h"
#include "router/policy/difference.h"
#include "tools/mcpxctl/difference_text.h"
#include "tools/mcpxctl/output.h"
#include <mcpx/json.h>

static const char verb[] = "policy";

/* `lines` are those of config_compare, each with its end. */
static void add_restart(struct mcpx_text *out, const struct mcpx_text *lines)
{
    const char *at = lines->text;

    mx_json_begin_array(out, "restart");
    for (size_t left = lines->len; left > 0;) {
        size_t len = strcspn(at, "\n");

        mx_json_add_item(out, (struct mcpx_slice){at, len});
        len += at[len] == '\n';
        at += len;
        left -= len;
    }
    mx_json_end_array(out);
}

static int print(struct mcpx_text *answer, bool json, bool differs)
{
    int status = differs ? STATUS_FAILED : STATUS_OK;
    struct mcpx_text out = {0};

    if (json)
        mcpx_text_puts(answer, "\n");
    else
        difference_tell(&out, mcpx_text_view(answer));
    return output_print(json ? answer : &out, verb, status);
}

int policy_compare(const struct config *before, const struct config *after, bool json)
{
    struct mcpx_text restart = {0}, settings = {0}, rows = {0}, answer = {0};
    struct difference difference = {.count = 0};
    enum mcpx_err err = difference_find(before->tokens, after->tokens, &difference);
    bool differs;
    int status;

    config_compare(before, after, &restart, &settings);
    differs = difference.count > 0 || restart.len > 0 ||
              !mcpx_slice_equal(mcpx_text_view(&settings), MCPX_SLICE("[]"));
    mx_json_begin_object(&answer, NULL);
    if (!err) {
        size_t shown = difference_write(&difference, SIZE_MAX, &rows);

        difference_write_answer(&(struct difference_answer){after->rev, before->rev,
                                                            &difference,
                                                            mcpx_text_view(&settings),
                                                            mcpx_text_view(&rows), shown},
                                &answer);
    }
    add_restart(&answer, &restart);
    mx_json_end_object(&answer);
    if (err || restart.failed || settings.failed || rows.failed || answer.failed)
        status = complain_of_memory(verb);
    else
        status = print(&answer, json, differs);
    difference_fini(&difference);
    mcpx_text_fini(&answer);
    mcpx_text_fini(&rows);
    mcpx_text_fini(&settings);
    mcpx_text_fini(&restart);
    return status;
}
