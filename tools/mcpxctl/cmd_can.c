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

/* A token with a profile says itself which topics it is for. */
static int answer(const struct config *config, struct mcpx_capset *set,
                  const struct inquiry *inquiry, bool json)
{
    struct entrance entrance = judge_topic(config, inquiry);
    struct mcpx_question question = {&inquiry->kind, inquiry->address.to,
                                     inquiry->address.count, wall_ms()};
    struct mcpx_decision decision;

    mcpx_capset_explain(set, &question, &decision);
    return inquiry_answer(inquiry, &decision, inquiry->profile.text ? NULL : &entrance, json);
}

static bool find(const struct tokens *tokens, const struct inquiry *inquiry,
                 struct tokens_entry *out)
{
    bool found = false;

    if (!inquiry->profile.text)
        return tokens_entry(tokens, inquiry->participant, out);
    for (size_t i = 0; !found && tokens_profile_at(tokens, i, out); i++)
        found = mcpx_slice_equal(out->name, inquiry->profile);
    return found;
}

static int can_offline(const struct inquiry *inquiry, bool json)
{
    struct config config = {0};
    struct tokens_entry entry;
    int status = load_config("can", inquiry->file, &config);

    if (status != STATUS_OK)
        return status;
    if (find(config.tokens, inquiry, &entry))
        status = answer(&config, entry.set, inquiry, json);
    else
        status = fail_with(STATUS_USAGE, "can", "%s has no %s of that name: %s", inquiry->file,
                           inquiry->profile.text ? "profile" : "participant",
                           inquiry->profile.text ? inquiry->profile.text
                                                 : inquiry->participant.text);
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
    if (live && (inquiry.file || inquiry.profile.text))
        return fail_with(STATUS_USAGE, "can",
                         "--config and --profile ask a file and --url or --live the router: "
                         "give one of them");
    if (live)
        return can_live(arguments, &inquiry);
    if (!inquiry.participant.text)
        inquiry.participant = mcpx_slice_of(arguments_value(arguments, "--as"));
    if (!inquiry.file || !(inquiry.participant.text || inquiry.profile.text))
        return fail_with(STATUS_USAGE, "can", "%s is required",
                         inquiry.file ? "--as ID or --profile NAME"
                                      : "--config FILE (or --live, or --url URL)");
    return can_offline(&inquiry, arguments_have(arguments, "--json"));
}
