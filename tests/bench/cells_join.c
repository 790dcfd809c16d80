/*
 * cells_join.c - a storm of late joiners, each sent the topic's last 1,000 messages while one
 * publisher goes on. What is replayed is checked as strictly as what is live: consecutive, whole,
 * and of the right number. A floor sends frames as they were; the router sends pages of
 * envelopes, so a client cannot take an old request for a new one.
 *
 * The row is CPU of the whole run, handshakes and signatures included, per replayed message.
 */
#include "tests/bench/cells.h"

#include "tests/bench/measure.h"
#include "tests/bench/speech.h"
#include "tests/bench/trial.h"
#include <mcpx/text.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { REPLAYED = 1000, BYTES = 256, AT_ONCE = 32, PATIENCE_MS = 15000 };

/*
 * got     messages received, by page or by frame
 * next    serial of the one that has to follow
 * frame   a page being received
 */
struct joiner {
    struct wire wire;
    size_t got;
    uint64_t next;
    struct mcpx_text page;
};

static void count_message(struct joiner *joiner, struct mcpx_slice text)
{
    uint64_t serial;
    unsigned flow;

    if (text.len < BYTES || !speech_read(text, &flow, &serial))
        wire_die("history holds something that was not said");
    if (joiner->got > 0 && serial != joiner->next)
        wire_die("history has a gap before message %llu", (unsigned long long)serial);
    joiner->next = serial + 1;
    joiner->got++;
}

/* The envelopes stand one behind the other, with commas between. */
static void read_page(struct joiner *joiner)
{
    static const char begin[] = "\"envelopes\":[";
    struct mcpx_slice page = mcpx_text_view(&joiner->page);
    const char *found = page.len ? strstr(page.text, begin) : NULL;
    size_t step;

    if (!found || !strstr(page.text, "\"system/history\""))
        return;
    page.len -= (size_t)(found - page.text) + sizeof begin - 1;
    page.text = found + sizeof begin - 1;
    while (page.len > BYTES && page.text[0] == '{') {
        count_message(joiner, page);
        step = page.text[BYTES] == ',' ? BYTES + 1 : BYTES;
        page.text += step;
        page.len -= step;
    }
}

static void on_more(struct wire *wire, size_t at, struct mcpx_slice bytes)
{
    struct joiner *joiner = wire->owner;

    (void)at;
    if (joiner->got >= REPLAYED)
        return;
    mcpx_text_slice(&joiner->page, bytes);
    if (wire->left > bytes.len)
        return;
    if (speech_read(mcpx_text_view(&joiner->page), &(unsigned){0}, &(uint64_t){0}))
        count_message(joiner, mcpx_text_view(&joiner->page));
    else
        read_page(joiner);
}

static void on_frame(struct wire *wire, int opcode, size_t len, struct mcpx_slice bytes)
{
    struct joiner *joiner = wire->owner;

    if (opcode == 8)
        wire_die("the server closed a joiner's connection");
    mcpx_text_reset(&joiner->page);
    wire->left = len;
    on_more(wire, 0, bytes);
}

static const struct wire_reader reader = {on_frame, on_more};

/* ---- the storm ---- */

struct storm {
    const struct child *server;
    struct crowd *crowd;
    struct joiner *joiners;
    int epoll;
    size_t begun;
    size_t ended;
    size_t count;
    size_t serial;
};

static void begin(struct storm *storm, struct joiner *joiner)
{
    char name[32];
    char *token;

    snprintf(name, sizeof name, "late-%zu", storm->serial++);
    token = speech_token(name, "join-0", CROWD_SECRET);
    joiner->got = 0;
    joiner->wire.reader = &reader;
    joiner->wire.owner = joiner;
    wire_connect(&joiner->wire, storm->epoll, storm->server->port,
                 "/ws?topic=join-0&history=1000", token);
    free(token);
    storm->begun++;
}

/* Those who have everything leave, and others come. */
static void replace_done(struct storm *storm)
{
    for (size_t i = 0; i < AT_ONCE; i++) {
        struct joiner *joiner = &storm->joiners[i];

        if (joiner->wire.fd > 0 && joiner->wire.ended)
            wire_die("a joiner lost its connection");
        if (joiner->wire.fd > 0 && joiner->got >= REPLAYED) {
            wire_shut(&joiner->wire);
            storm->ended++;
        }
        if (joiner->wire.fd <= 0 && storm->begun < storm->count)
            begin(storm, joiner);
    }
}

static void run_storm(struct storm *storm, size_t count)
{
    struct crowd_load live = {.bytes = BYTES, .window = 1, .messages = 1};
    double deadline = measure_now_ns() + PATIENCE_MS * 1e6;
    struct crowd_sample ignored;

    storm->count = count;
    storm->begun = storm->ended = 0;
    while (storm->ended < count) {
        replace_done(storm);
        wire_turn(storm->epoll, 1);
        crowd_run(storm->crowd, &live, &ignored);
        if (measure_now_ns() > deadline)
            wire_die("a joiner did not get its history");
    }
}

static void open_storm(struct storm *storm, enum trial_server which, struct child *server)
{
    struct crowd_plan plan = {"join", 1, 1, 0, false, false, NULL};
    struct crowd_load before = {.bytes = BYTES, .window = 16, .messages = REPLAYED + 100};
    struct crowd_sample ignored;

    trial_start(which, "1000", server);
    storm->server = server;
    storm->epoll = epoll_create1(0);
    storm->joiners = calloc(AT_ONCE, sizeof *storm->joiners);
    if (!storm->joiners)
        wire_die("out of memory");
    storm->crowd = crowd_open(server, &plan);
    crowd_run(storm->crowd, &before, &ignored);
}

static void close_storm(struct storm *storm, struct child *server)
{
    for (size_t i = 0; i < AT_ONCE; i++) {
        wire_shut(&storm->joiners[i].wire);
        mcpx_text_fini(&storm->joiners[i].page);
    }
    free(storm->joiners);
    crowd_free(storm->crowd);
    close(storm->epoll);
    child_stop(server);
}

void cells_join(void)
{
    static struct trial trial;
    struct storm storms[SECURE] = {{0}};
    size_t joins = 1000 / (size_t)trial_setup.rounds;

    if (!cell_is_wanted("join"))
        return;
    trial.sides = SECURE;
    for (size_t i = 0; i < SECURE; i++) {
        trial.which[i] = (enum trial_server)i;
        open_storm(&storms[i], trial.which[i], &trial.servers[i]);
        run_storm(&storms[i], AT_ONCE);
    }
    for (int round = 0; round < trial_setup.rounds; round++)
        for (size_t i = 0; i < SECURE; i++) {
            struct crowd_sample *sample = &trial.samples[i][round];

            sample->cpu_ns = -child_cpu_ns(&trial.servers[i]);
            run_storm(&storms[i], joins);
            sample->cpu_ns += child_cpu_ns(&trial.servers[i]);
            sample->deliveries = (double)(joins * REPLAYED);
        }
    trial_print(&trial, "join", "us/replayed", trial_cpu_us,
                (struct trial_bound){NAIVE, 0.33});
    trial_print(&trial, "join", "us/replayed", trial_cpu_us,
                (struct trial_bound){COALESCING, 0});
    for (size_t i = 0; i < SECURE; i++)
        close_storm(&storms[i], &trial.servers[i]);
}
