/*
 * fake_store.c - rows are kept for good, removed ones too, so that a test can say of anything that
 * was ever read where it stood.
 */
#include "tests/support/fake_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "the store was told nonsense: %s\n", what);
    abort();
}

static void copy(char *out, size_t size, struct mcpx_slice text)
{
    require(text.len < size, "a name that is too long");
    snprintf(out, size, "%.*s", (int)text.len, text.text ? text.text : "");
}

void fake_store_init(struct fake_store *store, bool is_stored)
{
    memset(store, 0, sizeof *store);
    store->is_stored = is_stored;
    for (size_t i = 0; i < FAKE_TOPICS; i++) {
        store->topics[i].loaded_from = 1;
        snprintf(store->topics[i].name, sizeof store->topics[i].name, "t%zu", i);
    }
}

static void forget(struct fake_topic *topic)
{
    for (size_t i = 0; i < topic->count + topic->ghosts; i++)
        free(topic->rows[i].text);
    topic->count = topic->ghosts = topic->committed = topic->gone = 0;
    topic->loaded_from = 1;
    topic->is_known = false;
}

void fake_store_fini(struct fake_store *store)
{
    for (size_t i = 0; i < FAKE_TOPICS; i++) {
        forget(&store->topics[i]);
        free(store->topics[i].rows);
    }
}

struct fake_topic *fake_topic(struct fake_store *store, struct mcpx_slice name)
{
    require(name.len == 2 && name.text[0] == 't' && name.text[1] >= '0' &&
                name.text[1] < '0' + FAKE_TOPICS,
            "a topic that nobody named");
    return &store->topics[name.text[1] - '0'];
}

/* ---- what is lent ---- */

static uint64_t add(uint64_t sum, struct mcpx_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        sum = (sum ^ (unsigned char)text.text[i]) * 0x100000001b3;
    return (sum ^ text.len) * 0x100000001b3;
}

static uint64_t sum_of(const struct submission *submission)
{
    const struct mcpx_slice all[] = {submission->topic, submission->epoch, submission->from,
                                     submission->text,  submission->id,    submission->kind,
                                     submission->grant, submission->reason};
    uint64_t sum = 0xcbf29ce484222325 ^ submission->ticket ^ (uint64_t)submission->wall_ms;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sum = add(sum, all[i]);
    for (size_t i = 0; i < submission->to_count; i++)
        sum = add(sum, submission->to[i]);
    return sum;
}

static void keep_epoch(const struct fake_store *store, struct fake_topic *topic,
                       struct mcpx_slice epoch)
{
    if (mcpx_slice_equal(epoch, mcpx_slice_of(topic->epoch)))
        return;
    require(!store->is_stored || !topic->is_known, "another epoch");
    forget(topic);
    copy(topic->epoch, sizeof topic->epoch, epoch);
}

static void hold(struct fake_store *store, struct submission *submission)
{
    struct fake_topic *topic = fake_topic(store, submission->topic);

    require(store->waiting_count < FAKE_HELD, "more than it can hold");
    require(!store->is_stored || topic->is_open || !topic->is_known,
            "a submission to a topic that was not loaded");
    topic->is_open = true;
    keep_epoch(store, topic, submission->epoch);
    memset(&submission->link, 0xaa, sizeof submission->link); /* the holder's own */
    memset(&submission->rejection, 0xaa, sizeof submission->rejection);
    store->waiting[store->waiting_count++] =
        (struct fake_held){submission, topic, FATE_REFUSED, sum_of(submission)};
}

static bool holds(const struct fake_held *held, size_t count, const struct fake_topic *topic)
{
    for (size_t i = 0; i < count; i++)
        if (held[i].topic == topic)
            return true;
    return false;
}

static void close_topic(struct fake_store *store, struct fake_topic *topic)
{
    require(!holds(store->waiting, store->waiting_count, topic) &&
                !holds(store->written, store->written_count, topic),
            "a topic is closed while something of it is not answered");
    topic->is_open = false;
    topic->committed = 0;
    if (!store->is_stored)
        forget(topic);
}

bool fake_pull(struct fake_store *store, struct hub *hub, struct task *out)
{
    struct fake_topic *topic;

    if (!hub_next_task(hub, out))
        return false;
    topic = fake_topic(store, out->topic);
    if (out->kind == TASK_STORE) {
        require(out->ticket == out->submission->ticket, "two tickets");
        hold(store, out->submission);
    } else if (out->kind == TASK_CLOSE) {
        close_topic(store, topic);
    } else {
        require(store->is_stored && !topic->is_open, "nobody needs this load");
        require(store->load_count < FAKE_LOADS, "more loads than it can hold");
        store->loads[store->load_count++] =
            (struct fake_topic_load){.ticket = out->ticket, .topic = topic};
    }
    return true;
}

/* ---- writing ---- */

static void append(struct fake_topic *topic, const struct submission *submission)
{
    struct fake_row *row;

    if (topic->count + topic->ghosts == topic->size) {
        topic->size = topic->size ? topic->size * 2 : 64;
        topic->rows = realloc(topic->rows, topic->size * sizeof *topic->rows);
        require(topic->rows != NULL, "out of memory");
    }
    row = &topic->rows[topic->count + topic->ghosts];
    *row = (struct fake_row){.len = submission->text.len, .wall_ms = submission->wall_ms};
    row->text = malloc(row->len + 1);
    require(row->text && submission->to_count <= FAKE_TO, "too many addressees");
    memcpy(row->text, submission->text.text, row->len);
    copy(row->id, sizeof row->id, submission->id);
    copy(row->from, sizeof row->from, submission->from);
    copy(row->kind, sizeof row->kind, submission->kind);
    for (row->to_count = 0; row->to_count < submission->to_count; row->to_count++)
        copy(row->to[row->to_count], FAKE_ID, submission->to[row->to_count]);
}

static void write_one(struct fake_store *store, struct fake_held *held, enum fate fate)
{
    held->fate = store->has_failed ? FATE_REFUSED : fate;
    if (held->submission->what != SUBMIT_MESSAGE || held->fate == FATE_REFUSED)
        return;
    append(held->topic, held->submission);
    if (held->fate == FATE_UNKNOWN) {
        held->topic->ghosts++;
        return;
    }
    held->topic->count++;
    held->topic->is_known = true;
}

void fake_write(struct fake_store *store, size_t count, enum fate fate)
{
    if (count > store->waiting_count)
        count = store->waiting_count;
    require(store->written_count + count <= FAKE_HELD, "more than it can hold");
    for (size_t i = 0; i < count; i++) {
        write_one(store, &store->waiting[i], fate);
        store->written[store->written_count++] = store->waiting[i];
    }
    store->waiting_count -= count;
    memmove(store->waiting, store->waiting + count,
            store->waiting_count * sizeof *store->waiting);
    store->has_failed |= fate == FATE_UNKNOWN && count > 0;
}

/* ---- answering ---- */

static void answer(const struct fake_held *held, struct hub *hub, struct mcpx_now now,
                   struct fake_answer *out)
{
    struct submission *submission = held->submission;
    uint64_t ticket = submission->ticket;

    *out = (struct fake_answer){
        .what = submission->what, .topic = held->topic, .fate = held->fate};
    copy(out->from, sizeof out->from, submission->from);
    copy(out->id, sizeof out->id, submission->id);
    require(sum_of(submission) == held->sum, "what it lent has changed");
    if (held->fate == FATE_STORED) {
        held->topic->committed += held->submission->what == SUBMIT_MESSAGE;
        hub_commit(hub, ticket, now);
        return;
    }
    submission->rejection = (struct rejection){
        .err = MCPX_EUNAVAILABLE, .retry_ms = 500, .certain = held->fate == FATE_REFUSED};
    hub_reject(hub, ticket, &submission->rejection, now);
}

bool fake_answer(struct fake_store *store, struct hub *hub, struct mcpx_now now,
                 struct fake_answer *out)
{
    struct fake_held first;

    if (store->written_count == 0)
        return false;
    first = store->written[0];
    memmove(store->written, store->written + 1,
            --store->written_count * sizeof *store->written);
    answer(&first, hub, now, out);
    return true;
}

void fake_refuse(struct fake_store *store, struct hub *hub, size_t index, struct mcpx_now now,
                 struct fake_answer *out)
{
    struct fake_held held = store->waiting[index];

    memmove(store->waiting + index, store->waiting + index + 1,
            (--store->waiting_count - index) * sizeof *store->waiting);
    held.fate = FATE_REFUSED;
    answer(&held, hub, now, out);
}

/* ---- loading ---- */

static struct fake_topic *end_load(struct fake_store *store, size_t index)
{
    struct fake_topic *topic = store->loads[index].topic;

    memmove(store->loads + index, store->loads + index + 1,
            (--store->load_count - index) * sizeof *store->loads);
    return topic;
}

/* MCPX_ENOTFOUND: nobody waits for it any more. */
static enum mcpx_err load_some(struct fake_topic_load *load, struct hub *hub, size_t rows)
{
    const struct fake_topic *topic = load->topic;
    struct stored_topic stored = {mcpx_slice_of(topic->epoch), topic->gone + 1};
    enum mcpx_err err = MCPX_OK;

    if (!load->has_begun && topic->is_known) {
        load->next = load->first = topic->gone;
        err = hub_load_topic(hub, load->ticket, &stored);
    }
    load->has_begun = true;
    for (; !err && rows > 0 && load->next < topic->count; rows--) {
        const struct fake_row *row = &topic->rows[load->next++];
        struct stored_envelope envelope = {{row->text, row->len}, row->wall_ms};

        err = hub_load(hub, load->ticket, &envelope);
    }
    require(!err || err == MCPX_ENOTFOUND, "what was stored is not taken");
    return err;
}

bool fake_load(struct fake_store *store, struct hub *hub, size_t index, size_t rows,
               struct mcpx_now now)
{
    struct fake_topic_load load;

    if (load_some(&store->loads[index], hub, rows)) {
        end_load(store, index);
        return true;
    }
    load = store->loads[index];
    if (load.next < load.topic->count)
        return false;
    hub_commit(hub, load.ticket, now);
    if (!load.topic->is_open && hub_topic_find(hub, mcpx_slice_of(load.topic->name))) {
        load.topic->committed = load.topic->count;
        load.topic->loaded_from = load.first + 1;
        load.topic->is_open = true;
    }
    end_load(store, index);
    return true;
}

struct fake_topic *fake_refuse_load(struct fake_store *store, struct hub *hub, size_t index,
                                    struct mcpx_now now)
{
    struct rejection rejection = {MCPX_EUNAVAILABLE, 1000, true};

    hub_reject(hub, store->loads[index].ticket, &rejection, now);
    return end_load(store, index);
}

/* ---- what goes wrong ---- */

void fake_retain(struct fake_topic *topic, size_t keep)
{
    if (topic->count > topic->gone + keep)
        topic->gone = topic->count - keep;
}

void fake_crash(struct fake_store *store, bool keeps_ghosts)
{
    store->waiting_count = store->written_count = store->load_count = 0;
    store->has_failed = false;
    for (size_t i = 0; i < FAKE_TOPICS; i++) {
        struct fake_topic *topic = &store->topics[i];

        topic->is_open = false;
        topic->committed = 0;
        if (keeps_ghosts) {
            topic->is_known |= topic->ghosts > 0;
            topic->count += topic->ghosts;
        }
        for (size_t j = topic->count; !keeps_ghosts && j < topic->count + topic->ghosts; j++)
            free(topic->rows[j].text);
        topic->ghosts = 0;
        if (!store->is_stored)
            forget(topic);
    }
}

void fake_lose(struct fake_store *store, size_t rows)
{
    for (size_t i = 0; i < FAKE_TOPICS; i++) {
        struct fake_topic *topic = &store->topics[i];
        size_t stays = topic->count > topic->gone + rows ? topic->count - rows : topic->gone;

        for (size_t j = stays; j < topic->count; j++)
            free(topic->rows[j].text);
        topic->count = stays;
        if (topic->is_known)
            snprintf(topic->epoch, sizeof topic->epoch, "%032x", ++store->losses);
    }
}
