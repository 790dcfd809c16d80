/*
 * crowd.c - one epoll thread that plays everybody. A message counts as delivered when each of
 * those it is for has it; what somebody receives has to be the next one of its flow, of the
 * right length, and for some readers equal to the last byte.
 */
#include "tests/bench/crowd_state.h"

#include "tests/bench/measure.h"
#include "tests/bench/speech.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { CONNECTING_MAX = 64, VERIFY_EVERY = 16 };

/* ---- receiving ---- */

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
    const char *text = member->seen->templates[crowd_group(crowd, member->seen_serial)];

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
    member->wire.tls = crowd->server->tls;
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

void crowd_free(struct crowd *crowd)
{
    if (!crowd)
        return;
    for (size_t i = 0; i < crowd->member_count; i++) {
        wire_shut(&crowd->members[i].wire);
        free(crowd->members[i].next);
    }
    for (size_t i = 0; i < crowd->flow_count; i++)
        crowd_drop_texts(&crowd->flows[i]);
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
