/*
 * crowd_speak.c - the publishers' part. Closed loop: a publisher sends its window at once and again
 * when everybody has all of it, so each server is given the same batches. Open loop: one message
 * at a time at even distances. The driver never sleeps meanwhile: waking a reader costs more than
 * sending to it, and over a network no server pays for that.
 */
#include "tests/bench/crowd_state.h"

#include "tests/bench/measure.h"
#include "tests/bench/speech.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- texts ---- */

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

void crowd_drop_texts(struct flow *flow)
{
    for (unsigned group = 0; group < CROWD_GROUPS; group++) {
        free(flow->templates[group]);
        flow->templates[group] = NULL;
    }
    free(flow->burst);
    flow->burst = NULL;
}

static void write_texts(struct crowd *crowd, struct flow *flow, const struct crowd_load *load)
{
    unsigned groups = crowd->plan.addressed ? CROWD_GROUPS : 1;
    char from[32];

    crowd_drop_texts(flow);
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

/* ---- speaking ---- */

static void send_messages(struct crowd *crowd, struct flow *flow, uint64_t count)
{
    char *at = flow->burst;

    for (uint64_t i = 0; i < count; i++) {
        at += wire_frame_head(at, crowd->bytes);
        memcpy(at, flow->templates[crowd_group(crowd, flow->sent)], crowd->bytes);
        speech_number(at, flow->number, flow->sent++);
        at += crowd->bytes;
    }
    flow->sent_ns = measure_now_ns();
    wire_send(&flow->publisher->wire,
              (struct mcpx_slice){flow->burst, (size_t)(at - flow->burst)});
}

/* A window at a time: refilled message by message it would fall apart into smaller batches, by
 * chance, and stay so, and the server would be blamed for the driver's luck. */
static void refill(struct crowd *crowd, struct flow *flow, unsigned window)
{
    uint64_t left = flow->goal - flow->sent;

    if (flow->sent == flow->done && left > 0 && !wire_is_sending(&flow->publisher->wire))
        send_messages(crowd, flow, left < window ? left : window);
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
        wire_turn(crowd->epoll, 0);
        watch_progress(crowd, &seen, &since);
        if (load->messages || measure_now_ns() < until)
            continue;
        for (size_t i = 0; i < crowd->flow_count; i++)
            crowd->flows[i].goal = crowd->flows[i].sent;
    }
}

/* One message at a time at even distances,
   publisher by publisher; each waits for the one before. */
static void run_paced(struct crowd *crowd, const struct crowd_load *load, double until)
{
    double step = 1e9 / load->per_second / (double)crowd->flow_count;
    double due = measure_now_ns(), since = due;
    uint64_t seen = 0;
    size_t turn = 0;

    for (size_t i = 0; i < crowd->flow_count; i++)
        crowd->flows[i].goal = crowd->flows[i].sent;
    while (due < until || !all_done(crowd)) {
        double now = measure_now_ns();
        struct flow *flow = &crowd->flows[turn % crowd->flow_count];

        if (now >= due && due < until && all_done(crowd)) {
            flow->goal++;
            send_messages(crowd, flow, 1);
            due += step;
            turn++;
        }
        wire_turn(crowd->epoll, 0);
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
