/*
 * sim_check.c - counters and questions: what /metrics and the HTTP API would tell has to agree
 * with the account.
 */
#include "lib/base/scoped.h"
#include "tests/support/fault_alloc.h"
#include "tests/support/sim_state.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * Who may be there: six participants, two of which come in instances, and one who is only ever
 * addressed. Sorted as the router sorts, so that bits stand in its order. Transcripts name them by
 * their bit: p1 is "p0~2".
 */
static const struct {
    const char *id;
    int identity;
    unsigned number;
} names[SIM_WHO + 1] = {
    {"p0", 0, 1}, {"p0~2", 0, 2}, {"p0~3", 0, 3}, {"p1", 3, 1}, {"p1~2", 3, 2},
    {"p2", 5, 1}, {"p3", 6, 1},   {"p4", 7, 1},   {"p5", 8, 1}, {"p9", 9, 1},
};

const char *sim_id(int who)
{
    return names[who].id;
}

int sim_identity(int who)
{
    return names[who].identity;
}

int sim_who(const char *id)
{
    int who = 0;

    while (who < SIM_WHO && strcmp(names[who].id, id) != 0)
        who++;
    return who;
}

int sim_instance(int identity, unsigned number)
{
    for (int who = 0; who < SIM_WHO; who++)
        if (names[who].identity == identity && names[who].number == number)
            return who;
    return SIM_WHO;
}

/* ---- a failing run is only worth its transcript ---- */

static void print_config(const struct hub_config *config)
{
    fprintf(stderr,
            "history %zu envelopes, %zu bytes, %" PRId64 " ms; backlog %zu; message %zu; "
            "%" PRIu64 " messages, %" PRIu64 " bytes per minute\n",
            config->history_count, config->history_bytes, config->history_age_ms,
            config->backlog_bytes, config->message_bytes, config->messages_per_minute,
            config->bytes_per_minute);
    if (config->needs_commit)
        fprintf(stderr, "%s; pending %zu; linger %" PRId64 " ms; topics %zu\n",
                config->stored ? "stored" : "audited", config->pending_bytes,
                config->linger_ms, config->topics_max);
}

void sim_require(struct sim *sim, bool holds, const char *format, ...)
{
    va_list arguments;

    if (holds)
        return;
    fprintf(stderr, "\n%s\n", sim->name);
    print_config(&sim->config);
    va_start(arguments, format);
    run_notes_end(&sim->notes, sim->step, sim->name, format, arguments);
}

/* ---- failures ---- */

void sim_fault_begin(struct sim *sim)
{
    bool comes = sim->faults && dice_hits(&sim->dice, 8);

    sim->fault_fired = false;
    fault_alloc_arm(comes ? 1 + dice_below(&sim->dice, 6) : 0);
}

void sim_fault_end(struct sim *sim)
{
    sim->fault_fired = fault_alloc_disarm();
    if (!sim->fault_fired)
        return;
    sim_say(sim, "    an allocation failed");
    sim->tally->faults++;
}

/* ---- the whole ---- */

/* All topics, each behind the one before. Returns how many. */
static uint64_t check_order(struct sim *sim)
{
    const struct topic *topic = hub_topic_after(sim->hub, (struct mcpx_slice){0});
    const struct topic *before = NULL;
    uint64_t count = 0;

    for (; topic; topic = topic_following(topic)) {
        sim_require(sim,
                    !before || mcpx_slice_compare(topic_name(before), topic_name(topic)) < 0,
                    "topic %d stands in the wrong place", (int)count);
        before = topic;
        count++;
    }
    return count;
}

static void check_counters(struct sim *sim)
{
    const struct stats *stats = hub_stats(sim->hub);
    uint64_t topics = 0, memory = 0;

#define SAME(member)                                                                          \
    sim_require(sim, stats->member == sim->expected.member, #member " is %d, expected %d",    \
                (int)stats->member, (int)sim->expected.member)
    SAME(admitted);
    SAME(departed);
    SAME(takeovers);
    SAME(received);
    SAME(received_bytes);
    SAME(accepted);
    SAME(derived);
    SAME(written);
    SAME(runs);
    SAME(replayed);
    SAME(resumed);
    SAME(slow);
#undef SAME
    for (int err = 0; err < MCPX_ERR_COUNT; err++)
        sim_require(sim,
                    stats->refused[err] == sim->expected.refused[err] &&
                        stats->closed[err] == sim->expected.closed[err],
                    "counters of: %s", mcpx_strerror((enum mcpx_err)err));
    for (const struct link *link = sim->hub->topics.next; link != &sim->hub->topics;
         link = link->next) {
        topics++;
        memory += topic_memory(LIST_ELEMENT(link, const struct topic, in_hub));
    }
    sim_require(sim, check_order(sim) == topics, "%d topics in order", (int)topics);
    /* What is being loaded counts as well. */
    sim_require(sim,
                stats->topics == topics &&
                    (stats->log_bytes == memory || sim->store.load_count > 0),
                "%d topics, %d bytes", (int)stats->topics, (int)stats->log_bytes);
    sim_require(sim, stats->peers == sim_count(sim, NULL, true), "%d peers",
                (int)stats->peers);
}

void sim_check(struct sim *sim)
{
    mx_scoped_text text = {0};

    check_counters(sim);
    for (size_t i = 0; i < SIM_TOPICS; i++) {
        struct sim_topic *topic = &sim->topics[i];
        const struct topic *real = hub_topic_find(sim->hub, mcpx_slice_of(topic->name));

        if (!topic->exists)
            continue;
        sim_require(sim, real->peer_count == sim_count(sim, topic, false),
                    "%s: %zu participants", topic->name, real->peer_count);
        mcpx_text_reset(&text);
        topic_write_participants(real, &(struct name_page){.limit = SIZE_MAX}, SIZE_MAX,
                                 &text);
        for (int who = 0; who < SIM_WHO; who++) {
            char mark[32];

            snprintf(mark, sizeof mark, "{\"id\":\"%s\"", sim_id(who));
            sim_require(sim,
                        (strstr(text.text, mark) != NULL) ==
                            (sim_present(sim, topic, who) != NULL),
                        "%s: p%d in %s", topic->name, who, text.text);
        }
    }
}

/* Draws a retained id for a bound of a page, or none; absent when it names nothing retained. */
static size_t draw_bound(struct sim *sim, const struct sim_topic *topic,
                         struct mcpx_slice *slice, size_t otherwise)
{
    size_t at;

    if (topic->count == 0 || !dice_hits(&sim->dice, 3))
        return otherwise;
    at = dice_below(&sim->dice, topic->count);
    *slice = mcpx_slice_of(topic->entries[at].id);
    return sim_find(topic, topic->entries[at].id);
}

void sim_check_history(struct sim *sim, struct sim_topic *topic)
{
    const struct topic *real = hub_topic_find(sim->hub, mcpx_slice_of(topic->name));
    struct page page = {.limit = dice_below(&sim->dice, 50)};
    mx_scoped_text out = {0}, expected = {0};
    size_t from, to, count = 0;
    enum mcpx_err err;
    struct page_end end = {.more = false};

    from = draw_bound(sim, topic, &page.after, topic->history);
    to = draw_bound(sim, topic, &page.before, topic->count);
    err = topic_write_history(real, &page, SIZE_MAX / 2, &out, &end);
    if ((page.after.text && from == topic->count) ||
        (page.before.text && to == topic->count)) {
        sim_require(sim, err == MCPX_ENOTFOUND && out.len == 0, "a page of what is gone");
        return;
    }
    from += page.after.text != NULL;
    mcpx_text_puts(&expected, "[");
    for (; to > from && count < page.limit; to--) {
        const struct sim_entry *entry = &topic->entries[to - 1];

        if (entry->presence)
            continue;
        if (count++ > 0)
            mcpx_text_puts(&expected, ",");
        mcpx_text_add(&expected, entry->text, entry->len);
    }
    mcpx_text_puts(&expected, "]");
    while (to > from && topic->entries[to - 1].presence)
        to--;
    sim_require(sim, end.more == (to > from), "%s: history goes on: %d", topic->name,
                end.more);
    sim_require(sim, !err && mcpx_slice_equal(mcpx_text_view(&out), mcpx_text_view(&expected)),
                "%s: history is %s\nexpected %s", topic->name, out.text, expected.text);
}
