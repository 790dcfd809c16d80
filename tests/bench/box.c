/*
 * box.c - the hub is a state machine that asks nothing of the machine it runs on, so its work can
 * be timed, and its instructions counted, without a kernel in between. Chance is a fixed
 * sequence: two runs do exactly the same.
 */
#include "tests/bench/box.h"
#include "tests/support/hub_defaults.h"

#include "tests/bench/speech.h"

#include <stdio.h>
#include <stdlib.h>

static void fill(void *context, void *bytes, size_t len)
{
    static uint32_t state = 1;
    unsigned char *at = bytes;

    (void)context;
    for (size_t i = 0; i < len; i++) {
        state = state * 1103515245 + 12345;
        at[i] = (unsigned char)(state >> 16);
    }
}

static struct mcpx_capset *make_capset(void)
{
    struct mcpx_grant grants[8] = {{.pattern = {NULL, 0}}};
    struct mcpx_capset *set = NULL;

    for (size_t i = 0; i < 8; i++)
        grants[i].pattern = mcpx_slice_of(speech_grants[i]);
    if (mcpx_capset_new(grants, 8, NULL, 0, NULL, NULL, &set))
        abort();
    return set;
}

static struct peer *admit(struct box *box, const char *name, const struct admission *admission)
{
    struct grant *grant = grant_new(mcpx_slice_of(name), box->capset, admission->routing, 0);
    struct peer *peer = NULL;

    if (!grant || hub_admit(box->hub, grant, admission, NULL, box->now, &peer))
        abort();
    grant_unref(grant);
    return peer;
}

struct peer *box_admit(struct box *box, size_t number, enum routing routing, size_t history)
{
    struct admission admission = {.topic = MCPX_SLICE("room"),
                                  .routing = routing,
                                  .has_history = true,
                                  .history = history};
    char name[32];

    snprintf(name, sizeof name, "r%05zu", number);
    return admit(box, name, &admission);
}

void box_open(struct box *box, size_t readers, enum routing routing)
{
    struct hub_config config = hub_config_default();
    struct admission admission = {.topic = MCPX_SLICE("room"), .routing = ROUTING_ALL};

    config.messages_per_minute = config.bytes_per_minute = config.joins_per_minute = 0;
    *box = (struct box){.now = {1000, 1795305600000}};
    box->capset = make_capset();
    box->hub = hub_new(&config, (struct chance){fill, NULL});
    if (!box->hub)
        abort();
    box->speaker = admit(box, "speaker", &admission);
    for (size_t i = 0; i < readers; i++) {
        box_admit(box, i, routing, 0);
        box_read(box);
    }
}

void box_close(struct box *box)
{
    hub_free(box->hub);
    mcpx_capset_unref(box->capset);
}

void box_say_as_is(struct box *box, const char *text, size_t len)
{
    struct verdict verdict;

    hub_route(box->hub, box->speaker, (struct mcpx_slice){text, len}, box->now, &verdict);
    if (verdict.err)
        abort();
}

void box_say(struct box *box, char *text, size_t len)
{
    speech_number(text, 0, box->serial++);
    box_say_as_is(box, text, len);
}

size_t box_read(struct box *box)
{
    struct output output;
    struct peer *peer;
    size_t bytes = 0;

    while ((peer = hub_next_ready(box->hub)))
        while (peer_peek(peer, &output)) {
            bytes += output.len;
            peer_pop(peer);
        }
    return bytes;
}

void box_depart(struct box *box, struct peer *peer)
{
    hub_leave(box->hub, peer, MCPX_ECLOSED, box->now);
}
