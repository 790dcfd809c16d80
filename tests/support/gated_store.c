/*
 * gated_store.c - what the hub hands out is what was accepted, once, in that order; what it is
 * answered reaches whom it concerns.
 */
#include "tests/support/fault_alloc.h"
#include "tests/support/gated_state.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- tasks ---- */

static bool is(struct mcpx_slice slice, const char *text)
{
    return mcpx_slice_equal(slice, mcpx_slice_of(text));
}

static void check_message(struct gated *sim, const struct submission *submission)
{
    struct fake_topic *topic = fake_topic(&sim->store, submission->topic);
    size_t at = gated_topic_number(sim, topic);
    char id[FAKE_ID];
    const struct message *message;

    snprintf(id, sizeof id, "%.*s", (int)submission->id.len, submission->id.text);
    message = gated_message(sim, id);
    gated_require(sim, message && message->state == PENDING && message->topic == topic,
                  "%s was not accepted", id);
    gated_require(sim, message->order > sim->pulled[at], "%s comes too late", id);
    sim->pulled[at] = message->order;
    gated_require(sim,
                  is(submission->from, message->from) && is(submission->kind, message->kind) &&
                      is(submission->kind_sent, message->kind_sent),
                  "%s from %.*s is %.*s, not %s", id, (int)submission->from.len,
                  submission->from.text, (int)submission->kind.len, submission->kind.text,
                  message->kind);
    gated_require(sim, submission->to_count == (*message->to != '\0'), "addressees of %s", id);
    gated_require(sim, !sim->config.audited || submission->grant.text, "no grant covers %s",
                  id);
}

static struct visitor *joiner(struct gated *sim, const struct fake_topic *topic,
                              struct mcpx_slice id)
{
    for (size_t i = 0; i < VISITORS; i++) {
        struct visitor *visitor = &sim->visitors[i];

        if (visitor->state == THERE && visitor->topic == topic &&
            peer_is_joining(visitor->peer) && mcpx_slice_equal(peer_id(visitor->peer), id))
            return visitor;
    }
    return NULL;
}

static void note_task(struct gated *sim, const struct task *task)
{
    static const char *const whats[] = {"message", "join", "update", "leave"};

    if (task->kind != TASK_STORE) {
        gated_say(sim, "task: %s %.*s, ticket %d", task->kind == TASK_OPEN ? "open" : "close",
                  (int)task->topic.len, task->topic.text, (int)task->ticket);
        sim->tally->openings += task->kind == TASK_OPEN;
        sim->tally->closings += task->kind == TASK_CLOSE;
        return;
    }
    gated_say(sim, "task: %s %.*s %.*s %.*s, ticket %d", whats[task->submission->what],
              (int)task->topic.len, task->topic.text, (int)task->submission->from.len,
              task->submission->from.text, (int)task->submission->id.len,
              task->submission->id.text ? task->submission->id.text : "", (int)task->ticket);
}

void gated_pull(struct gated *sim, size_t count)
{
    struct task task;

    while (count-- > 0 && fake_pull(&sim->store, sim->hub, &task)) {
        note_task(sim, &task);
        if (task.kind == TASK_STORE && task.submission->what == SUBMIT_MESSAGE)
            check_message(sim, task.submission);
    }
}

/* ---- answers ---- */

static void tell_sender(struct gated *sim, const struct message *message,
                        const struct fake_answer *answer)
{
    struct visitor *visitor = &sim->visitors[message->visitor];
    struct owed *owed = &visitor->owed[visitor->owed_count];

    if (visitor->state != THERE || visitor->connection != message->connection ||
        peer_is_condemned(visitor->peer))
        return;
    gated_require(sim, ++visitor->owed_count < NOTES_MAX, "too many errors to read");
    *owed =
        (struct owed){.err = MCPX_EUNAVAILABLE, .is_certain = answer->fate == FATE_REFUSED};
    strcpy(owed->id, answer->id);
}

static void settle_message(struct gated *sim, const struct fake_answer *answer)
{
    struct message *message = gated_message(sim, answer->id);

    message->state = SETTLED;
    sim->tally->committed += answer->fate == FATE_STORED;
    sim->tally->refused += answer->fate == FATE_REFUSED;
    sim->tally->unknown += answer->fate == FATE_UNKNOWN;
    if (answer->fate != FATE_STORED)
        tell_sender(sim, message, answer);
}

/* Whoever has the id of a joiner is replaced, also by one that is gone again already. */
static void replace(struct gated *sim, const struct visitor *joiner,
                    const struct fake_answer *answer)
{
    for (size_t i = 0; i < VISITORS; i++) {
        struct visitor *other = &sim->visitors[i];

        if (other == joiner || other->state != THERE || !other->joined ||
            other->topic != answer->topic || strcmp(other->id, answer->from) != 0)
            continue;
        if (other->code_count == 0)
            sim->tally->takeovers++;
        gated_may_close(other, MCPX_EREPLACED);
    }
}

static void settle_join(struct gated *sim, struct visitor *visitor,
                        const struct fake_answer *answer)
{
    sim->tally->vanished_joins += !visitor;
    if (answer->fate == FATE_STORED)
        replace(sim, visitor, answer);
    if (!visitor)
        return;
    if (answer->fate != FATE_STORED || answer->topic->is_lost) {
        gated_may_close(visitor, MCPX_ENOTNOW);
        return;
    }
    visitor->joined = true;
    visitor->joined_at = visitor->topic->committed;
}

/* Who joins is looked for before the hub is told, because its peer may end with that. */
static void settle(struct gated *sim, const struct fake_answer *answer, struct visitor *who)
{
    static const char *const fates[] = {"stored", "refused", "unknown"};

    gated_say(sim, "answer: %s %s %s %s", answer->topic->name, answer->from, answer->id,
              fates[answer->fate]);
    if (answer->what == SUBMIT_MESSAGE)
        settle_message(sim, answer);
    else if (answer->what == SUBMIT_JOIN)
        settle_join(sim, who, answer);
}

static struct visitor *joiner_of(struct gated *sim, const struct fake_held *held)
{
    return held->submission->what == SUBMIT_JOIN
               ? joiner(sim, held->topic, held->submission->from)
               : NULL;
}

/* Is this the newest that the hub shows? */
static bool shows(struct gated *sim, const struct fake_answer *answer)
{
    const struct topic *topic = hub_topic_find(sim->hub, mcpx_slice_of(answer->topic->name));
    struct page page = {.limit = 1};
    struct mcpx_text text = {0};
    char member[FAKE_ID + 8];
    struct page_end end;
    bool found;

    if (topic_write_history(topic, &page, SIZE_MAX, &text, &end))
        abort();
    mcpx_text_puts(&text, ""); /* ends it */
    snprintf(member, sizeof member, "\"id\":\"%s\"", answer->id);
    found = text.text && strstr(text.text, member);
    mcpx_text_fini(&text);
    return found;
}

/* Memory had no room for what is stored: everybody has to come again, when it was loaded anew. */
static void lose(struct gated *sim, const struct fake_answer *answer)
{
    gated_say(sim, "%s is lost to a failed allocation", answer->topic->name);
    answer->topic->is_lost = true;
    for (size_t i = 0; i < VISITORS; i++)
        if (sim->visitors[i].state == THERE && sim->visitors[i].topic == answer->topic)
            gated_may_close(&sim->visitors[i], MCPX_ENOMEM);
    sim->tally->lost++;
}

static void answer_first(struct gated *sim, struct fake_answer *answer)
{
    const struct fake_held *first = &sim->store.written[0];
    bool is_row = first->submission->what == SUBMIT_MESSAGE && first->fate == FATE_STORED;
    bool fails = sim->has_faults && is_row && dice_hits(&sim->dice, 10);

    if (fails)
        fault_alloc_arm(1 + dice_below(&sim->dice, 3));
    fake_answer(&sim->store, sim->hub, sim->now, answer);
    if (fails && fault_alloc_disarm() && !answer->topic->is_lost && !shows(sim, answer))
        lose(sim, answer);
}

void gated_answer(struct gated *sim, size_t count)
{
    struct fake_answer answer;

    while (count-- > 0 && sim->store.written_count > 0) {
        struct visitor *who = joiner_of(sim, &sim->store.written[0]);

        answer_first(sim, &answer);
        settle(sim, &answer, who);
    }
}

/* ---- what chance does ---- */

static void refuse_one(struct gated *sim)
{
    struct fake_answer answer;
    struct visitor *who;
    size_t index;

    if (sim->store.waiting_count == 0)
        return;
    index = dice_below(&sim->dice, sim->store.waiting_count);
    who = joiner_of(sim, &sim->store.waiting[index]);
    fake_refuse(&sim->store, sim->hub, index, sim->now, &answer);
    settle(sim, &answer, who);
}

static void retain(struct gated *sim)
{
    size_t keep = sim->config.history_count;

    for (size_t i = 0; i < FAKE_TOPICS && keep > 0 && sim->store.is_stored; i++)
        fake_retain(&sim->store.topics[i], keep + keep / 4);
}

void gated_write(struct gated *sim)
{
    size_t count = 1 + dice_below(&sim->dice, dice_hits(&sim->dice, 3) ? 20 : 3);
    enum fate fate = FATE_STORED;

    if (sim->has_trouble && dice_hits(&sim->dice, 12))
        fate = dice_hits(&sim->dice, 4) ? FATE_UNKNOWN : FATE_REFUSED;
    fake_write(&sim->store, count, fate);
    if (dice_hits(&sim->dice, 20))
        retain(sim);
}

static void load_some(struct gated *sim, size_t index, size_t rows)
{
    struct fake_topic *topic = sim->store.openings[index].topic;

    if (topic->is_damaged) {
        gated_say(sim, "%s is damaged", topic->name);
        fake_refuse_opening(&sim->store, sim->hub, index, sim->now);
    } else if (fake_load(&sim->store, sim->hub, index, rows, sim->now)) {
        gated_say(sim, "%s is loaded: %zu envelopes", topic->name, topic->committed);
    }
}

void gated_load(struct gated *sim)
{
    if (sim->store.opening_count == 0)
        return;
    load_some(sim, dice_below(&sim->dice, sim->store.opening_count),
              dice_hits(&sim->dice, 2) ? SIZE_MAX : dice_below(&sim->dice, 10));
}

void gated_spoil(struct gated *sim)
{
    size_t index;

    if (!sim->has_trouble)
        return;
    if (dice_hits(&sim->dice, 4)) {
        struct fake_topic *topic = &sim->store.topics[dice_below(&sim->dice, FAKE_TOPICS)];

        topic->is_damaged = !topic->is_damaged;
    } else if (sim->store.opening_count > 0 && dice_hits(&sim->dice, 2)) {
        index = dice_below(&sim->dice, sim->store.opening_count);
        gated_say(sim, "the opening of %s fails", sim->store.openings[index].topic->name);
        fake_refuse_opening(&sim->store, sim->hub, index, sim->now);
    } else {
        refuse_one(sim);
    }
}

void gated_store_all(struct gated *sim)
{
    gated_pull(sim, SIZE_MAX);
    fake_write(&sim->store, SIZE_MAX, FATE_STORED);
    gated_answer(sim, SIZE_MAX);
    while (sim->store.opening_count > 0)
        load_some(sim, 0, SIZE_MAX);
}
