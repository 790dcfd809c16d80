/*
 * can_live.c - asks the running router, which knows more than its configuration file. Protocol:
 * section 8.
 */
#include "tools/mcpxctl/can.h"

#include "lib/core/format.h"
#include "lib/core/json_write.h"
#include "tools/mcpxctl/fetch.h"
#include <mcpx/json.h>

static void write_question(struct mcpx_text *out, const struct inquiry *inquiry)
{
    mx_format(out, "{\"kind\":%q", inquiry->kind.text);
    mx_json_add_optional(out, "participant", inquiry->participant);
    if (inquiry->address.count > 0)
        mx_json_add_strings(out, "to", inquiry->address.to, inquiry->address.count);
    mx_json_end_object(out);
}

/* Unescapes a member into `held`; absent when it is not there. */
static struct mcpx_slice read_member(struct mcpx_slice answer, const char *name,
                                     struct mcpx_text *held)
{
    if (!mcpx_json_add_unescaped(held, mcpx_json_get(answer, name)))
        return (struct mcpx_slice){NULL, 0};
    return held->text ? mcpx_text_view(held) : MCPX_SLICE("");
}

static bool read_refusal(struct mcpx_slice answer, enum mcpx_refusal *out)
{
    struct mcpx_slice reason = mcpx_json_get(answer, "reason");

    for (int i = MCPX_ALLOWED; i <= MCPX_RESERVED_NAMESPACE; i++) {
        if (!mcpx_json_equals(reason, mcpx_slice_of(mcpx_refusal_wire((enum mcpx_refusal)i))))
            continue;
        *out = (enum mcpx_refusal)i;
        return true;
    }
    return false;
}

static int show(const struct inquiry *inquiry, const struct mcpx_text *answer, bool json)
{
    static const char *const names[] = {"grant", "nearest", "would_allow", "alternative"};
    struct mcpx_decision decision = {.refusal = MCPX_DENIED};
    struct mcpx_slice *const slots[] = {&decision.grant, &decision.nearest,
                                        &decision.would_allow, &decision.alternative};
    struct mcpx_text held[4] = {{0}};
    struct mcpx_slice value;
    int status = STATUS_FAILED;

    if (mcpx_json_check(mcpx_text_view(answer), 0, &value, NULL) != MCPX_OK ||
        !read_refusal(value, &decision.refusal))
        return fail_with(STATUS_FAILED, "can", "the router's answer is no decision");
    for (size_t i = 0; i < 4; i++)
        *slots[i] = read_member(value, names[i], &held[i]);
    status = inquiry_answer(inquiry, &decision, NULL, json);
    for (size_t i = 0; i < 4; i++)
        mcpx_text_fini(&held[i]);
    return status;
}

int can_live(const struct arguments *arguments, const struct inquiry *inquiry)
{
    struct mcpx_text question = {0}, answer = {0};
    struct connection where;
    int status = connection_read(arguments, &where);

    write_question(&question, inquiry);
    if (status == STATUS_OK && question.failed)
        status = complain_of_memory("can");
    if (status == STATUS_OK)
        status = fetch_answer(&where, "can", "/v0.1/check", question.text, &answer);
    if (status == STATUS_OK)
        status = show(inquiry, &answer, arguments_have(arguments, "--json"));
    mcpx_text_fini(&answer);
    mcpx_text_fini(&question);
    connection_fini(&where);
    return status;
}
