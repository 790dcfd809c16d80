/*
 * budget_work.c - fixed work whose instructions are counted: the same texts, the same random
 * numbers, the same clock, so two counts of one program are equal to the last instruction
 * whatever else the machine does. Only what happens inside budget_region is counted; the script
 * `budget` tells callgrind so. Prints the names of the workloads in the order in which they ran.
 */
#include "tests/bench/box.h"
#include "tests/bench/speech.h"

#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 64, READERS = 100, GROUPS = 10, HISTORY = 1000, DEPTH = 512 };

/*
 * text, len   a message of `speaker`
 * set, kind   a decision to be taken
 */
struct work {
    struct box box;
    char *text;
    size_t len;
    char *addressed[GROUPS];
    struct mcpx_envelope envelope;
    struct mcpx_capset *set;
    struct mcpx_kind kind;
};

/* Not to be inlined: callgrind finds it by name. */
__attribute__((noinline)) void budget_region(void (*run)(struct work *), struct work *work);

void budget_region(void (*run)(struct work *), struct work *work)
{
    run(work);
    __asm__ volatile("" ::: "memory"); /* no tail call: the region ends here */
}

/* ---- the work ---- */

static void parse(struct work *work)
{
    struct mcpx_fault fault;

    for (int i = 0; i < TIMES; i++)
        if (mcpx_envelope_parse((struct mcpx_slice){work->text, work->len}, DEPTH,
                                &work->envelope, &fault))
            abort();
}

static void decide(struct work *work)
{
    struct mcpx_question question = {.kind = &work->kind};

    for (int i = 0; i < TIMES; i++)
        if (!mcpx_capset_allows(work->set, &question))
            abort();
}

static void route(struct work *work)
{
    for (int i = 0; i < TIMES; i++) {
        box_say(&work->box, work->text, work->len);
        box_read(&work->box);
    }
}

static void route_derived(struct work *work)
{
    char text[] = "{\"id\":\"answer-0000000000\",\"protocol\":\"mcpx/v0.1\",\"kind\":"
                  "\"mcp/response:tools/call\",\"correlation_id\":\"0000-0000000000\","
                  "\"payload\":{\"result\":{}}}";

    for (int i = 0; i < TIMES; i++) {
        text[14] = (char)('0' + i / 10);
        text[15] = (char)('0' + i % 10);
        box_say_as_is(&work->box, text, sizeof text - 1);
        box_read(&work->box);
    }
}

static void say_to_all(struct work *work)
{
    for (int i = 0; i < TIMES; i++)
        box_say(&work->box, work->text, work->len);
}

static void say_addressed(struct work *work)
{
    for (int i = 0; i < TIMES; i++)
        box_say(&work->box, work->addressed[i % GROUPS], work->len);
}

static void read_all(struct work *work)
{
    box_read(&work->box);
}

static void join(struct work *work)
{
    struct peer *peer = box_admit(&work->box, READERS + 1, ROUTING_ALL, HISTORY);

    box_read(&work->box);
    box_depart(&work->box, peer);
    box_read(&work->box);
}

/* Presence is told. */
static void pass_time(struct box *box)
{
    box->now.mono_ms += 50;
    hub_tick(box->hub, box->now);
    box_read(box);
}

/* As many as are there come at once, are told of, and go. */
static void join_in_a_crowd(struct work *work)
{
    struct peer *peers[READERS];

    for (size_t i = 0; i < READERS; i++)
        peers[i] = box_admit(&work->box, READERS + i, ROUTING_ALL, 0);
    box_read(&work->box);
    pass_time(&work->box);
    for (size_t i = 0; i < READERS; i++)
        box_depart(&work->box, peers[i]);
    pass_time(&work->box);
}

/* ---- the regions ---- */

/* Runs once uncounted, so that memory is there and caches of the program are filled. */
static void count(const char *name, void (*run)(struct work *), struct work *work)
{
    run(work);
    budget_region(run, work);
    puts(name);
}

static void count_parse(const char *name, size_t len)
{
    struct work work = {.text = speech_new(len, "speaker", ""), .len = len};

    mcpx_envelope_init(&work.envelope);
    count(name, parse, &work);
    mcpx_envelope_fini(&work.envelope);
    free(work.text);
}

static void count_decision(const char *name, size_t patterns)
{
    struct mcpx_grant *grants = calloc(patterns, sizeof *grants);
    char *room = calloc(patterns, 64);
    struct work work = {.len = 0};

    if (!grants || !room)
        abort();
    for (size_t i = 0; i < patterns; i++) {
        snprintf(room + i * 64, 64, "mcp/request:tools/call:tool_%zu_*", patterns - 1 - i);
        grants[i].pattern = mcpx_slice_of(room + i * 64);
    }
    if (mcpx_capset_new(grants, patterns, NULL, 0, NULL, NULL, &work.set) ||
        mcpx_kind_parse(MCPX_SLICE("mcp/request:tools/call:tool_0_read"), &work.kind, NULL))
        abort();
    count(name, decide, &work);
    mcpx_capset_unref(work.set);
    free(room);
    free(grants);
}

static void count_route(const char *name, size_t len, void (*run)(struct work *))
{
    struct work work = {.text = speech_new(len, "speaker", ""), .len = len};

    box_open(&work.box, 0, ROUTING_ALL);
    for (int i = 0; i < HISTORY; i++) {
        box_say(&work.box, work.text, work.len);
        box_read(&work.box);
    }
    if (run == route_derived) { /* its answers have ids of their own: once only */
        budget_region(run, &work);
        puts(name);
    } else {
        count(name, run, &work);
    }
    box_close(&work.box);
    free(work.text);
}

static char *addressed(size_t group, size_t len)
{
    char to[READERS * 10 + 16];
    size_t at = 0;

    for (size_t i = group; i < READERS; i += GROUPS)
        at += (size_t)snprintf(to + at, sizeof to - at, "%s\"r%05zu\"", at ? "," : "[", i);
    snprintf(to + at, sizeof to - at, "]");
    return speech_new(len, "speaker", to);
}

static void count_readers(const char *name, enum routing routing)
{
    struct work work = {.text = speech_new(512, "speaker", ""), .len = 512};
    bool directed = routing == ROUTING_DIRECTED;

    for (size_t group = 0; group < GROUPS; group++)
        work.addressed[group] = addressed(group, work.len);
    box_open(&work.box, READERS, routing);
    for (int i = 0; i < 2; i++) { /* what is counted lies in one piece of the log's memory */
        (directed ? say_addressed : say_to_all)(&work);
        box_read(&work.box);
    }
    (directed ? say_addressed : say_to_all)(&work);
    budget_region(read_all, &work);
    puts(name);
    for (size_t group = 0; group < GROUPS; group++)
        free(work.addressed[group]);
    box_close(&work.box);
    free(work.text);
}

static void count_crowd(const char *name)
{
    struct work work = {.len = 0};

    box_open(&work.box, READERS, ROUTING_ALL);
    pass_time(&work.box);
    count(name, join_in_a_crowd, &work);
    box_close(&work.box);
}

int main(void)
{
    count_parse("parse-256", 256);
    count_parse("parse-4k", 4096);
    count_parse("parse-64k", 65536);
    count_decision("decide-8", 8);
    count_decision("decide-64", 64);
    count_route("route-256", 256, route);
    count_route("route-1k", 1024, route);
    count_route("route-4k", 4096, route);
    count_route("route-derived", 256, route_derived);
    count_readers("read-all", ROUTING_ALL);
    count_readers("read-directed", ROUTING_DIRECTED);
    count_route("join-history", 256, join);
    count_crowd("join-crowd");
    return EXIT_SUCCESS;
}
