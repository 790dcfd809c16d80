/*
 * cmd_can.c - asks the configuration, or the running router, whether something may be sent.
 */
#include "tools/mcpxctl/verbs.h"

#include "router/policy/tokens.h"
#include "tools/mcpxctl/can.h"
#include "tools/mcpxctl/load.h"
#include <mcpx/capability.h>

#include <time.h>

static int64_t wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* What the router would answer a participant that joins. */
static struct entrance judge_topic(const struct config *config, const struct inquiry *inquiry)
{
    struct entrance entrance = {
        MCPX_OK, tokens_topic_pattern(config->tokens, inquiry->participant, inquiry->topic)};

    if (!entrance.pattern.text)
        entrance.err = MCPX_EFORBIDDEN;
    else if (!config->hub.create)
        entrance.err = MCPX_ENOTOPIC;
    return entrance;
}

static int answer(const struct config *config, struct grant *grant,
                  const struct inquiry *inquiry, bool json)
{
    struct entrance entrance = judge_topic(config, inquiry);
    struct mcpx_question question = {&inquiry->kind, inquiry->address.to,
                                     inquiry->address.count, wall_ms()};
    struct mcpx_decision decision;

    mcpx_capset_explain(grant->capset, &question, &decision);
    return inquiry_answer(inquiry, &decision, &entrance, json);
}

static int can_offline(const struct inquiry *inquiry, bool json)
{
    struct config config = {0};
    struct grant *grant = NULL;
    enum mcpx_err err;
    int status = load_config("can", inquiry->file, &config);

    if (status != STATUS_OK)
        return status;
    err = tokens_participant(config.tokens, inquiry->participant, &grant);
    if (!err)
        status = answer(&config, grant, inquiry, json);
    else if (err == MCPX_ENOTFOUND)
        status =
            fail_with(STATUS_USAGE, "can", "%s has no participant of that name: %.*s",
                      inquiry->file, (int)inquiry->participant.len, inquiry->participant.text);
    else
        status = fail_with(STATUS_FAILED, "can", "%s", mcpx_strerror(err));
    grant_unref(grant);
    config_fini(&config);
    return status;
}

int cmd_can(const struct arguments *arguments)
{
    static struct inquiry inquiry;
    bool live = arguments_have(arguments, "--live") || arguments_have(arguments, "--url");
    int status = inquiry_read(arguments, &inquiry);

    if (status != STATUS_OK)
        return status;
    if (live && inquiry.file)
        return fail_with(
            STATUS_USAGE, "can",
            "--config asks a file and --url or --live the router: give one of them");
    if (live)
        return can_live(arguments, &inquiry);
    if (!inquiry.participant.text)
        inquiry.participant = mcpx_slice_of(arguments_value(arguments, "--as"));
    if (!inquiry.file || !inquiry.participant.text)
        return fail_with(STATUS_USAGE, "can", "%s is required",
                         inquiry.file ? "--as ID" : "--config FILE (or --live, or --url URL)");
    return can_offline(&inquiry, arguments_have(arguments, "--json"));
}
