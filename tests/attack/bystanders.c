/*
 * bystanders.c - people who only want to talk. Each is a process with one connection and a clock,
 * so that what one of them waits for is nobody else's time.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "tests/attack/attack.h"

#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PACE_US = 20000, PATIENCE_US = 60000000 };

void *attack_share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    cr_assert(memory != MAP_FAILED);
    return memory;
}

static long now_us(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

/* Receives until `until_us`; returns sooner when the connection ends or something has come. */
static bool receive_until(struct rude *rude, long until_us)
{
    struct pollfd wait = {.fd = rude->fd, .events = POLLIN};
    long left_us = until_us - now_us();

    if (left_us > 0 && poll(&wait, 1, (int)(left_us + 999) / 1000) > 0)
        return rude_receive(rude);
    return !rude->ended;
}

static bool hears(struct rude *rude, const char *part)
{
    long until_us = now_us() + PATIENCE_US;
    struct frame frame;

    while (now_us() < until_us) {
        while (rude_take(rude, &frame))
            if (frame.first == TEXT && frame_holds(&frame, part))
                return true;
        if (!receive_until(rude, until_us))
            return false;
    }
    return false;
}

static void keep_pace(struct rude *rude, long until_us)
{
    struct frame frame;

    while (now_us() < until_us && receive_until(rude, until_us))
        while (rude_take(rude, &frame))
            continue;
}

/* Speaks and listens until told to stop. False when the connection ended or an echo is missing. */
static bool talk(struct rude *rude, struct sight *sight, int who)
{
    char id[32], part[48];

    for (unsigned n = 0; !sight->stop; n++) {
        long began_us = now_us();
        unsigned at = sight->echoes[who];

        snprintf(id, sizeof id, "b%d-%u", who, n);
        snprintf(part, sizeof part, "\"id\":\"%s\"", id);
        rude_chat(rude, id, "{}");
        if (!hears(rude, part))
            return false;
        sight->echo_us[who][at % ECHOES_MAX] = (unsigned)(now_us() - began_us);
        sight->echoes[who] = at + 1;
        keep_pace(rude, began_us + PACE_US);
    }
    return true;
}

static void bystander(const struct daemon *router, struct sight *sight, int who)
{
    struct rude rude = {0};
    char token[64], target[64];

    snprintf(token, sizeof token, "bystander-%d-0123456789abcdef", who);
    snprintf(target, sizeof target, "/ws?topic=room-%d&history=0", who);
    if (rude_enter(&rude, router, token, target) != 101 || !talk(&rude, sight, who))
        __sync_fetch_and_add(&sight->lost, 1);
}

/* A newcomer every 200 ms, in a room that an attacker may be in. */
static void newcomer(const struct daemon *router, struct sight *sight)
{
    while (!sight->stop) {
        struct rude rude = {0};
        long began_us = now_us(), took_us;
        bool joined = rude_enter(&rude, router, "newcomer-0123456789abcdef",
                                 "/ws?topic=room-0&history=0") == 101 &&
                      hears(&rude, "\"system/welcome\"");

        took_us = now_us() - began_us;
        if (!joined) {
            fprintf(stderr, "a newcomer was refused: %.300s\n",
                    rude.in.text ? rude.in.text : "(no answer)");
            sight->refused++;
        }
        if ((unsigned)took_us > sight->slowest_join_us)
            sight->slowest_join_us = (unsigned)took_us;
        sight->joins++;
        keep_pace(&rude, began_us + 3000000);
        rude_shut(&rude);
    }
}

void bystanders_begin(const struct daemon *router, struct sight *sight,
                      pid_t children[BYSTANDERS + 1])
{
    pid_t parent = getpid();

    for (int i = 0; i <= BYSTANDERS; i++) {
        children[i] = fork();
        cr_assert(children[i] >= 0);
        if (children[i] > 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent && i < BYSTANDERS)
            bystander(router, sight, i);
        else if (getppid() == parent)
            newcomer(router, sight);
        _exit(0);
    }
    for (int i = 0; i < BYSTANDERS; i++)
        while (!sight->echoes[i] && !sight->lost)
            poll(NULL, 0, 1);
}

static int compare(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

/*
 * A bystander waits for one echo before it asks for the next. Echoes that it would have asked for
 * in its pace meanwhile would have waited as well, each a pace less: they count, or one long stall
 * would be one slow echo among thousands. Returns how many there are; writes them where `all` is.
 */
static size_t waits(unsigned echo_us, unsigned *all)
{
    size_t count = 0;

    for (;; echo_us -= PACE_US) {
        if (all)
            all[count] = echo_us;
        count++;
        if (echo_us < PACE_US)
            return count;
    }
}

/* All waits since `from`; returns their number, and writes them where `all` is. */
static size_t gather(const struct sight *sight, const unsigned from[BYSTANDERS],
                     const unsigned end[BYSTANDERS], unsigned *all)
{
    size_t count = 0;

    for (int i = 0; i < BYSTANDERS; i++)
        for (unsigned n = from[i]; n < end[i]; n++)
            count += waits(sight->echo_us[i][n % ECHOES_MAX], all ? all + count : NULL);
    return count;
}

unsigned bystanders_p99_us(struct sight *sight)
{
    static unsigned from[BYSTANDERS];
    unsigned end[BYSTANDERS], result = NO_ECHO, *all;
    size_t count;

    for (int i = 0; i < BYSTANDERS; i++)
        end[i] = sight->echoes[i];
    count = gather(sight, from, end, NULL);
    all = calloc(count + 1, sizeof *all);
    cr_assert(all);
    gather(sight, from, end, all);
    memcpy(from, end, sizeof from);
    if (count > 0) {
        qsort(all, count, sizeof *all, compare);
        result = all[count * 99 / 100];
    }
    free(all);
    return result;
}

void attack_end(pid_t *children, size_t count)
{
    for (size_t i = 0; i < count; i++)
        kill(children[i], SIGKILL);
    for (size_t i = 0; i < count; i++)
        waitpid(children[i], NULL, 0);
}
