/*
 * crowd.c - one epoll thread that plays everybody. A message counts as delivered when each of
 * those it is for has it; what somebody receives has to be the next one of its flow, of the
 * right length, and for some readers equal to the last byte. A flow is what one publisher says.
 * Closed loop: a publisher refills its window, in one send, when the reads of a turn are done,
 * so servers that batch are given batches and others are not held up.
 * Includes crowd.h, measure.h, speech.h.
 */
#include "tests/bench/crowd.h"

#include "tests/bench/measure.h"
#include "tests/bench/speech.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { RING = 1024, CONNECTING_MAX = 64, VERIFY_EVERY = 16, PATIENCE_MS = 15000 };

/*
 * number     of the flow, in its ids
 * sent       messages sent, so the next one's serial
 * done       those that all have, from the first on
 * arrived    how many have message `serial % RING`
 * templates  text per group
 * burst      frames being sent
 * sent_ns    when the latest one was sent
 */
struct flow {
    unsigned number;
    struct member *publisher;
    uint64_t sent;
    uint64_t done;
    uint64_t goal;
    uint16_t arrived[RING];
    char *templates[CROWD_GROUPS];
    char *burst;
    double sent_ns;
};

/*
 * next      per flow of its topic: the serial it has to receive next
 * stride    1, or CROWD_GROUPS when it is spared the rest; 0 when it is spared everything
 * seen      flow and serial of the message being received
 */
struct member {
    struct wire wire;
    struct crowd *crowd;
    struct flow *flows;
    uint64_t *next;
    unsigned stride;
    unsigned group;
    bool verify;
    struct flow *seen;
    uint64_t seen_serial;
};

struct crowd {
    const struct child *server;
    struct crowd_plan plan;
    int epoll;
    struct member *members;
    size_t member_count;
    struct flow *flows;
    size_t flow_count;
    size_t bytes;
    uint64_t deliveries;
    bool timed;
    double *latencies;
    size_t latency_count;
    size_t latency_size;
};

/* ---- receiving ---- */

static unsigned group_of(const struct crowd *crowd, uint64_t serial)
{
    return crowd->plan.addressed ? (unsigned)(serial % CROWD_GROUPS) : 0;
}

static size_t expected(const struct crowd *crowd)
{
    if (crowd->plan.directed)
        return crowd->plan.readers / CROWD_GROUPS;
    return crowd->plan.publishers + crowd->plan.readers;
}

static void note_latency(struct crowd *crowd, double ns)
{
    if (crowd->latency_count == crowd->latency_size) {
        crowd->latency_size = crowd->latency_size ? crowd->latency_size * 2 : 65536;
        crowd->latencies =
            realloc(crowd->latencies, crowd->latency_size * sizeof *crowd->latencies);
        if (!crowd->latencies)
            wire_die("out of memory");
    }
    crowd->latencies[crowd->latency_count++] = ns;
}

static void delivered(struct member *member)
{
    struct crowd *crowd = member->crowd;
    struct flow *flow = member->seen;

    crowd->deliveries++;
    flow->arrived[member->seen_serial % RING]++;
    while (flow->done < flow->sent && flow->arrived[flow->done % RING] == expected(crowd)) {
        flow->arrived[flow->done % RING] = 0;
        flow->done++;
    }
    if (crowd->timed)
        note_latency(crowd, measure_now_ns() - flow->sent_ns);
}

static void verify(const struct member *member, size_t at, struct mcpx_slice bytes)
{
    const struct crowd *crowd = member->crowd;
    const char *text = member->seen->templates[group_of(crowd, member->seen_serial)];

    if (member->verify && memcmp(text + at, bytes.text, bytes.len) != 0)
        wire_die("a message was altered near byte %zu", at);
}

static void receive_message(struct member *member, size_t len, struct mcpx_slice bytes,
                            unsigned number)
{
    struct crowd *crowd = member->crowd;
    size_t first = member->flows[0].number, index = number - first;
    uint64_t serial = member->seen_serial;

    if (number < first || index >= crowd->plan.publishers || len != crowd->bytes)
        wire_die("a message of flow %u and %zu bytes came where none was sent", number, len);
    if (serial != member->next[index])
        wire_die("message %llu of flow %u came instead of %llu", (unsigned long long)serial,
                 number, (unsigned long long)member->next[index]);
    member->next[index] += member->stride;
    member->seen = &member->flows[index];
    verify(
        member, SPEECH_NUMBERS_END,
        (struct mcpx_slice){bytes.text + SPEECH_NUMBERS_END, bytes.len - SPEECH_NUMBERS_END});
    if (bytes.len == len)
        delivered(member);
}

static bool is_complaint(struct mcpx_slice bytes)
{
    static const char kind[] = "\"system/error\"";

    for (size_t i = 0; i + sizeof kind <= bytes.len; i++)
        if (memcmp(bytes.text + i, kind, sizeof kind - 1) == 0)
            return true;
    return false;
}

static void on_frame(struct wire *wire, int opcode, size_t len, struct mcpx_slice bytes)
{
    struct member *member = wire->owner;
    unsigned number;

    member->seen = NULL;
    if (opcode == 8)
        wire_die("the server closed a connection: %.*s", (int)bytes.len - 2, bytes.text + 2);
    if (opcode != 1)
        return;
    if (speech_read(bytes, &number, &member->seen_serial))
        receive_message(member, len, bytes, number);
    else if (is_complaint(bytes))
        wire_die("the server says: %.*s", (int)bytes.len, bytes.text);
}

static void on_more(struct wire *wire, size_t at, struct mcpx_slice bytes)
{
    struct member *member = wire->owner;

    if (!member->seen)
        return;
    verify(member, at, bytes);
    if (wire->left == bytes.len)
        delivered(member);
}

static const struct wire_reader reader = {on_frame, on_more};

/* ---- opening ---- */

/* The participants a message of this group is for, as JSON; "" when it is for all. */
static char *addressees(const struct crowd *crowd, unsigned group)
{
    size_t size = crowd->plan.readers * 10 + 16;
    char *text = malloc(size);
    size_t len = 0;

    if (!text)
        wire_die("out of memory");
    text[0] = '\0';
    if (!crowd->plan.addressed)
        return text;
    for (size_t i = group; i < crowd->plan.readers; i += CROWD_GROUPS)
        len += (size_t)snprintf(text + len, size - len, "%s\"r%05zu\"", len ? "," : "[", i);
    snprintf(text + len, size - len, "]");
    return text;
}

/* Member `index` of topic `topic`: publishers come first. */
static void connect_member(struct crowd *crowd, size_t topic, size_t index)
{
    const struct crowd_plan *plan = &crowd->plan;
    size_t per_topic = plan->publishers + plan->readers;
    struct member *member = &crowd->members[topic * per_topic + index];
    bool speaks = index < plan->publishers;
    size_t reads_as = index - plan->publishers;
    char name[32], room[64], target[160];
    char *token;

    member->crowd = crowd;
    member->flows = &crowd->flows[topic * plan->publishers];
    member->next = calloc(plan->publishers + 1, sizeof *member->next);
    member->verify = index % VERIFY_EVERY == 0;
    member->stride = plan->directed ? CROWD_GROUPS : 1;
    for (size_t i = 0; member->next && i < plan->publishers && plan->directed; i++)
        member->next[i] = speaks ? UINT64_MAX : reads_as % CROWD_GROUPS;
    snprintf(name, sizeof name, "%c%05zu", speaks ? 'p' : 'r', speaks ? index : reads_as);
    snprintf(room, sizeof room, "%s-%zu", plan->name, topic);
    snprintf(target, sizeof target, "/ws?topic=%s%s%s", room,
             plan->directed ? "&routing=directed" : "", plan->query ? plan->query : "");
    token = speech_token(name, room, CROWD_SECRET);
    member->wire.reader = &reader;
    member->wire.owner = member;
    wire_connect(&member->wire, crowd->epoll, crowd->server->port, target, token);
    free(token);
    if (speaks)
        member->flows[index].publisher = member;
}

static void await_open(struct crowd *crowd, size_t from, size_t to)
{
    double deadline = measure_now_ns() + PATIENCE_MS * 1e6;

    for (size_t i = from; i < to; i++)
        while (!crowd->members[i].wire.open) {
            if (crowd->members[i].wire.ended || measure_now_ns() > deadline)
                wire_die("connection %zu was not accepted", i);
            wire_turn(crowd->epoll, 100);
        }
}

struct crowd *crowd_open(const struct child *server, const struct crowd_plan *plan)
{
    struct crowd *crowd = calloc(1, sizeof *crowd);
    size_t per_topic = plan->publishers + plan->readers;
    size_t waited = 0;

    if (!crowd)
        wire_die("out of memory");
    crowd->server = server;
    crowd->plan = *plan;
    crowd->epoll = epoll_create1(0);
    crowd->member_count = plan->topics * per_topic;
    crowd->flow_count = plan->topics * plan->publishers;
    crowd->members = calloc(crowd->member_count, sizeof *crowd->members);
    crowd->flows = calloc(crowd->flow_count + 1, sizeof *crowd->flows);
    if (!crowd->members || !crowd->flows)
        wire_die("out of memory");
    for (size_t i = 0; i < crowd->flow_count; i++)
        crowd->flows[i].number = (unsigned)i;
    for (size_t i = 0; i < crowd->member_count; i++) {
        connect_member(crowd, i / per_topic, i % per_topic);
        if (i + 1 - waited == CONNECTING_MAX) {
            await_open(crowd, waited, i + 1);
            waited = i + 1;
        }
    }
    await_open(crowd, waited, crowd->member_count);
    return crowd;
}

static void drop_texts(struct flow *flow)
{
    for (unsigned group = 0; group < CROWD_GROUPS; group++) {
        free(flow->templates[group]);
        flow->templates[group] = NULL;
    }
    free(flow->burst);
    flow->burst = NULL;
}

void crowd_free(struct crowd *crowd)
{
    if (!crowd)
        return;
    for (size_t i = 0; i < crowd->member_count; i++) {
        wire_shut(&crowd->members[i].wire);
        free(crowd->members[i].next);
    }
    for (size_t i = 0; i < crowd->flow_count; i++)
        drop_texts(&crowd->flows[i]);
    close(crowd->epoll);
    free(crowd->latencies);
    free(crowd->members);
    free(crowd->flows);
    free(crowd);
}

void crowd_turn(struct crowd *crowd)
{
    wire_turn(crowd->epoll, 0);
}

/* ---- speaking ---- */

static void write_texts(struct crowd *crowd, struct flow *flow, const struct crowd_load *load)
{
    unsigned groups = crowd->plan.addressed ? CROWD_GROUPS : 1;
    char from[32];

    drop_texts(flow);
    snprintf(from, sizeof from, "p%05zu", flow->number % crowd->plan.publishers);
    for (unsigned group = 0; group < groups; group++) {
        char *to = addressees(crowd, group);

        flow->templates[group] = speech_new(load->bytes, from, to);
        free(to);
    }
    flow->burst = malloc((load->bytes + 14) * load->window);
    if (!flow->burst)
        wire_die("out of memory");
}

static void send_messages(struct crowd *crowd, struct flow *flow, uint64_t count)
{
    char *at = flow->burst;

    for (uint64_t i = 0; i < count; i++) {
        at += wire_frame_head(at, crowd->bytes);
        memcpy(at, flow->templates[group_of(crowd, flow->sent)], crowd->bytes);
        speech_number(at, flow->number, flow->sent++);
        at += crowd->bytes;
    }
    flow->sent_ns = measure_now_ns();
    wire_send(&flow->publisher->wire,
              (struct mcpx_slice){flow->burst, (size_t)(at - flow->burst)});
}

/* What the window and the goal permit. */
static void refill(struct crowd *crowd, struct flow *flow, unsigned window)
{
    uint64_t under_way = flow->sent - flow->done;
    uint64_t count = window > under_way ? window - under_way : 0;

    if (count > flow->goal - flow->sent)
        count = flow->goal - flow->sent;
    if (count > 0 && !wire_is_sending(&flow->publisher->wire))
        send_messages(crowd, flow, count);
}

static bool all_done(const struct crowd *crowd)
{
    for (size_t i = 0; i < crowd->flow_count; i++)
        if (crowd->flows[i].done < crowd->flows[i].goal)
            return false;
    return true;
}

/* Ends the program when nothing comes any more. */
static void watch_progress(const struct crowd *crowd, uint64_t *seen, double *since)
{
    double now = measure_now_ns();

    if (crowd->deliveries != *seen)
        *since = now;
    *seen = crowd->deliveries;
    if (now - *since > PATIENCE_MS * 1e6)
        wire_die("a message did not arrive");
}

static void run_closed(struct crowd *crowd, const struct crowd_load *load, double until)
{
    double since = measure_now_ns();
    uint64_t seen = 0;

    for (size_t i = 0; i < crowd->flow_count; i++)
        crowd->flows[i].goal =
            load->messages ? crowd->flows[i].sent + load->messages : UINT64_MAX;
    for (;;) {
        for (size_t i = 0; i < crowd->flow_count; i++)
            refill(crowd, &crowd->flows[i], load->window);
        if (all_done(crowd))
            return;
        wire_turn(crowd->epoll, 100);
        watch_progress(crowd, &seen, &since);
        if (load->messages || measure_now_ns() < until)
            continue;
        for (size_t i = 0; i < crowd->flow_count; i++)
            crowd->flows[i].goal = crowd->flows[i].sent;
    }
}

/* One message at a time at even distances; the next one waits for the one before. */
static void run_paced(struct crowd *crowd, const struct crowd_load *load, double until)
{
    double step = 1e9 / load->per_second, due = measure_now_ns(), since = due;
    uint64_t seen = 0;

    while (due < until || !all_done(crowd)) {
        double now = measure_now_ns();

        if (now >= due && due < until && all_done(crowd)) {
            for (size_t i = 0; i < crowd->flow_count; i++) {
                crowd->flows[i].goal = crowd->flows[i].sent + 1;
                send_messages(crowd, &crowd->flows[i], 1);
            }
            due += step;
        }
        wire_turn(crowd->epoll, all_done(crowd) && due > now ? (int)((due - now) / 1e6) : 1);
        watch_progress(crowd, &seen, &since);
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void read_latencies(struct crowd *crowd, struct crowd_sample *sample)
{
    size_t count = crowd->latency_count;

    sample->p50_us = sample->p99_us = 0;
    if (count == 0)
        return;
    qsort(crowd->latencies, count, sizeof *crowd->latencies, compare_doubles);
    sample->p50_us = crowd->latencies[count / 2] / 1e3;
    sample->p99_us = crowd->latencies[count - 1 - count / 100] / 1e3;
}

static uint64_t count_sent(const struct crowd *crowd)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < crowd->flow_count; i++)
        sum += crowd->flows[i].sent;
    return sum;
}

void crowd_run(struct crowd *crowd, const struct crowd_load *load, struct crowd_sample *sample)
{
    double begin = measure_now_ns(), cpu = child_cpu_ns(crowd->server);
    uint64_t sent = count_sent(crowd);

    for (size_t i = 0; i < crowd->flow_count; i++)
        write_texts(crowd, &crowd->flows[i], load);
    crowd->bytes = load->bytes;
    crowd->deliveries = 0;
    crowd->latency_count = 0;
    crowd->timed = load->per_second > 0;
    if (crowd->timed)
        run_paced(crowd, load, begin + load->seconds * 1e9);
    else
        run_closed(crowd, load, begin + load->seconds * 1e9);
    sample->seconds = (measure_now_ns() - begin) / 1e9;
    sample->messages = (double)(count_sent(crowd) - sent);
    sample->deliveries = (double)crowd->deliveries;
    sample->cpu_ns = child_cpu_ns(crowd->server) - cpu;
    read_latencies(crowd, sample);
}
