/*
 * bench_hub.c - the router's own work, without sockets: what a message costs from its text to
 * the log, what a reader costs per message it is handed, and a page of history. Grants have eight
 * patterns, history is on. Beside it stands a naive router in the same process.
 */
#include "tests/bench/box.h"
#include "tests/bench/measure.h"
#include "tests/bench/naive.h"
#include "tests/bench/speech.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 16, ROUNDS = 15, GROUPS = 10 };

struct saying {
    struct box box;
    char *text;
    size_t len;
};

/* ---- one message ---- */

static void say_batch(void *context)
{
    struct saying *saying = context;

    for (int i = 0; i < BATCH; i++)
        box_say(&saying->box, saying->text, saying->len);
    box_read(&saying->box);
}

static void say_naively(void *context)
{
    struct saying *saying = context;

    naive_route((struct mcpx_slice){saying->text, saying->len});
}

static void measure_route(const char *name, size_t len, double target_us)
{
    struct saying saying = {.text = speech_new(len, "speaker", ""), .len = len};
    struct measure_row row = {.name = name, .unit = "us/message"};

    box_open(&saying.box, 0, ROUTING_ALL);
    row.value = measure_call_ns(say_batch, &saying) / BATCH / 1e3;
    row.base = measure_call_ns(say_naively, &saying) / 1e3;
    row.target = target_us;
    measure_print(&row);
    row.against = "naive";
    row.ratio = row.value / row.base;
    row.target = 0;
    measure_print(&row);
    box_close(&saying.box);
    free(saying.text);
}

/* A request and its response, whose kind is completed from it: the cost of the two. */
static void ask_and_answer(void *context)
{
    static const char answer[] =
        "{\"id\":\"answer-0000000000\",\"protocol\":\"mcpx/v0.1\",\"kind\":\"mcp/response:"
        "tools/call\",\"correlation_id\":\"0000-0000000000\",\"payload\":{\"result\":{}}}";
    struct saying *saying = context;
    char text[sizeof answer];

    for (int i = 0; i < BATCH / 2; i++) {
        box_say(&saying->box, saying->text, saying->len);
        memcpy(text, answer, sizeof answer);
        memcpy(text + 14, saying->text + SPEECH_SERIAL_AT, SPEECH_SERIAL_LEN);
        memcpy(strstr(text, "0000-"), saying->text + SPEECH_BEGIN, 15);
        box_say_as_is(&saying->box, text, sizeof answer - 1);
    }
    box_read(&saying->box);
}

static void measure_answer(void)
{
    struct saying saying = {.text = speech_new(256, "speaker", ""), .len = 256};
    struct measure_row row = {.name = "route-derived", .unit = "us/message"};

    box_open(&saying.box, 0, ROUTING_ALL);
    row.value = measure_call_ns(ask_and_answer, &saying) / BATCH / 1e3;
    measure_print(&row);
    box_close(&saying.box);
    free(saying.text);
}

/* ---- readers ---- */

/* Text whose `to` names every tenth of the readers, from `group` on. */
static char *addressed(size_t readers, size_t group, size_t len)
{
    char *to = malloc(readers * 10 + 16), *text;
    size_t at = 0;

    if (!to)
        abort();
    for (size_t i = group; i < readers; i += GROUPS)
        at += (size_t)sprintf(to + at, "%s\"r%05zu\"", at ? "," : "[", i);
    sprintf(to + at, "]");
    text = speech_new(len, "speaker", to);
    free(to);
    return text;
}

/*
 * Nanoseconds per message handed to a reader, batch by batch; in directed mode ten batches are
 * said, of which each reader gets one's worth, so that turns compare.
 */
static double measure_readers(size_t readers, enum routing routing)
{
    size_t len = 400 + readers, said = routing == ROUTING_DIRECTED ? BATCH * GROUPS : BATCH;
    char *texts[GROUPS];
    double samples[ROUNDS];
    struct box box;

    for (size_t group = 0; group < GROUPS; group++)
        texts[group] = addressed(readers, group, len);
    box_open(&box, readers, routing);
    for (int round = 0; round < ROUNDS; round++) {
        double spent = 0;

        for (int turn = 0; turn < 20; turn++) {
            for (size_t i = 0; i < said; i++)
                box_say(&box, texts[i % GROUPS], len);
            spent -= measure_cpu_ns();
            box_read(&box);
            spent += measure_cpu_ns();
        }
        samples[round] = spent / (20.0 * BATCH * (double)readers);
    }
    box_close(&box);
    for (size_t group = 0; group < GROUPS; group++)
        free(texts[group]);
    return measure_median(samples, ROUNDS);
}

static void measure_fanout(size_t readers, const char *all_name, const char *directed_name)
{
    struct measure_row row = {.name = all_name, .unit = "ns/delivery"};

    row.value = measure_readers(readers, ROUTING_ALL);
    measure_print(&row);
    row.base = row.value;
    row.value = measure_readers(readers, ROUTING_DIRECTED);
    row.name = directed_name;
    row.against = "all mode";
    row.ratio = row.value / row.base;
    measure_print(&row);
}

/* ---- history ---- */

struct joining {
    struct saying saying;
    size_t history;
};

static void join_and_leave(void *context)
{
    struct joining *joining = context;
    struct box *box = &joining->saying.box;
    struct peer *peer = box_admit(box, 1, ROUTING_ALL, joining->history);

    box_read(box);
    box_depart(box, peer);
    box_read(box);
}

static void measure_history(void)
{
    struct joining joining = {
        .saying = {.text = speech_new(1024, "speaker", ""), .len = 1024}};
    struct measure_row row = {.name = "join", .unit = "us/join"};
    double bare;

    box_open(&joining.saying.box, 0, ROUTING_ALL);
    for (int i = 0; i < 1000; i++) {
        box_say(&joining.saying.box, joining.saying.text, 1024);
        box_read(&joining.saying.box);
    }
    bare = measure_call_ns(join_and_leave, &joining);
    row.value = bare / 1e3;
    measure_print(&row);
    joining.history = 1000;
    row.name = "history-1k";
    row.unit = "ns/message";
    row.value = (measure_call_ns(join_and_leave, &joining) - bare) / 1000;
    measure_print(&row);
    box_close(&joining.saying.box);
    free(joining.saying.text);
}

int main(void)
{
    measure_title("hub: the router's own work, without sockets");
    measure_route("route-256", 256, 0);
    measure_route("route-1k", 1024, 1.5);
    measure_route("route-4k", 4096, 0);
    measure_answer();
    measure_fanout(100, "readers-100", "readers-100-directed");
    measure_fanout(1000, "readers-1000", "readers-1000-directed");
    measure_history();
    naive_fini();
    return EXIT_SUCCESS;
}
