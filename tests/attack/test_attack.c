/*
 * One attacker with one machine, and what everybody else notices of it: nothing. Echoes take as
 * long as in a quiet moment, nobody is disconnected, nobody who comes is refused, and memory
 * stays where it is bounded. Protocol: sections 5 to 8; SECURITY.md.
 *
 * MCPX_ATTACK_SECONDS (3) is how long each attacker has. From 30 on the rule for echoes is strict:
 * three times the quiet value. In less time the hundredth echo is one of a handful, and a pause of
 * the machine's would decide; so no echo time below ECHO_FLOOR_US counts as long then, and none
 * below SHARED_FLOOR_US where echoes wait for other programs as well. An attacker who makes others
 * wait does so each time: in less time, he has three tries, and the least counts.
 */
#define _GNU_SOURCE /* CPU_SET */
#include "tests/attack/attack.h"

#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <mcpx/json.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STRICT_S = 30,
    TRIES = 3,
    ECHO_FLOOR_US = 250000,
    SHARED_FLOOR_US = 5000000,
    MOVES_MAX = 16,
    SAMPLE_MS = 100
};

/*
 * What is bounded for everybody together (--check, edge.h): logs, and of the edge's memory what
 * sockets have not taken, unfinished messages, reads that wait for their turn, and answers.
 */
enum { LOGS_KIB = 262144, EDGE_KIB = 4 * 65536, GROWTH_MAX_KIB = LOGS_KIB + EDGE_KIB };

/*
 * Bytes that sockets have not taken (--check), and one more write: a participant that holds more
 * than half of them is cut at once, and not after a second as other slow readers are.
 */
enum { UNSENT_MAX = (64 << 20) + (4 << 20) };

/* The most memory that was seen, and the most of it that sockets had not taken. */
struct peak {
    long kib, unsent;
};

/* Who is configured; everything else is as it is when nobody says, but for LOGS_KIB. */
static const struct person {
    const char *name, *token_sha256, *topics, *grant;
} persons[] = {
    {"attacker", "05d9e64bb45cf385c1179bde285467a200712c73f7bd9855721134195a02e343", "*",
     NULL},
    {"b0", "6bec6c96afcba447167a508abd81e3a1e8d07d70f43c9158adc3f4a78236004f", "room-*",
     "chat"},
    {"b1", "157122f2716e05b99c6826d18b28e80710f9b0523e5b8374cf6dd504e8571aae", "room-*",
     "chat"},
    {"b2", "d2e7f17c01467be738e782b2272f93d46205a2b34e44e53d65690fe3acb3dc23", "room-*",
     "chat"},
    {"b3", "7a9b6dc6ced9953058b437af5550afb8462a136dcca593c7c0b0ab054f6fc1d9", "room-*",
     "chat"},
    {"newcomer", "c372aa67fe485ff655f37b3e3db74e37cb409278aa0c4c61878acd25dd2889d2", "room-*",
     NULL},
};

/* Appends the configuration; the attacker, who stands first, may send `grant`, or nothing. */
static void write_config(const char *grant, struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"auth\":{\"instances\":64},\"limits\":{\"log_bytes\":268435456},"
                        "\"participants\":{");
    for (size_t i = 0; i < sizeof persons / sizeof *persons; i++) {
        const struct person *person = &persons[i];
        const char *may = i == 0 ? grant : person->grant;

        mcpx_text_puts(out, i == 0 ? "\"" : ",\"");
        mcpx_text_puts(out, person->name);
        mcpx_text_puts(out, "\":{");
        mcpx_json_add_member(out, "token_sha256", mcpx_slice_of(person->token_sha256));
        mcpx_text_puts(out, ",\"topics\":[");
        mcpx_json_add_string(out, mcpx_slice_of(person->topics));
        mcpx_text_puts(out, "],\"grants\":[");
        if (may)
            mcpx_json_add_string(out, mcpx_slice_of(may));
        mcpx_text_puts(out, "]}");
    }
    mcpx_text_puts(out, "}}");
    cr_assert_not(out->failed);
}

static const char *const attacker_grants[ATTACKERS] = {NULL, NULL, "chat", "chat", "chat"};

static int seconds(void)
{
    const char *text = getenv("MCPX_ATTACK_SECONDS");

    return text ? atoi(text) : 3;
}

/* The router has a processor of its own, as on a machine of its own, where there are two. */
static void keep_to(size_t processor)
{
    cpu_set_t all, one;

    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    if (sched_getaffinity(0, sizeof all, &all) == 0 && CPU_ISSET(0, &all) &&
        CPU_ISSET(1, &all))
        cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

/*
 * The router and the bystanders run before whatever else the machine has to do, the attacker
 * included, whose machine would be another. Children inherit it.
 */
static bool run_before_others(void)
{
    struct sched_param first = {.sched_priority = 1};

    if (sched_setscheduler(0, SCHED_FIFO, &first) == 0)
        return true;
    fprintf(stderr,
            "no right to a real-time priority (%s): echoes wait for other programs "
            "as well\n",
            strerror(errno));
    return false;
}

/* The slowest hundredth of the echoes while nobody attacks. */
static unsigned quiet_p99_us(int during_s, struct sight *sight)
{
    poll(NULL, 0, during_s * 1000);
    return bystanders_p99_us(sight);
}

static void watch(const struct daemon *router, struct peak *peak)
{
    long kib = daemon_rss_kib(router), unsent = rude_metric(router, "mcpx_unsent_bytes");

    poll(NULL, 0, SAMPLE_MS);
    peak->kib = kib > peak->kib ? kib : peak->kib;
    peak->unsent = unsent > peak->unsent ? unsent : peak->unsent;
}

static unsigned attacked_p99_us(const struct daemon *router, enum attacker attacker,
                                struct sight *sight, struct peak *peak)
{
    long until_ms = support_now_ms() + seconds() * 1000L;
    pid_t children[MOVES_MAX];

    attacker_begin(router, attacker, children);
    while (support_now_ms() < until_ms)
        watch(router, peak);
    attack_end(children, attacker_moves(attacker));
    cr_expect_leq(peak->unsent, UNSENT_MAX, "%ld bytes that sockets do not take",
                  peak->unsent);
    return bystanders_p99_us(sight);
}

/* How long an echo may take; `first`: people and router run before other programs. */
static unsigned bound_us(unsigned quiet, bool first)
{
    unsigned bound = 3 * quiet, least = first ? ECHO_FLOOR_US : SHARED_FLOOR_US;

    return seconds() < STRICT_S && bound < least ? least : bound;
}

static void suffer(enum attacker attacker)
{
    struct sight *sight = attack_share(sizeof *sight);
    pid_t people[BYSTANDERS + 1];
    unsigned quiet, attacked, bound, again;
    struct mcpx_text config = {0};
    struct daemon router;
    struct peak peak = {0};
    long before_kib;
    bool first = run_before_others();

    keep_to(0);
    write_config(attacker_grants[attacker], &config);
    daemon_start_plain(&router, config.text);
    mcpx_text_fini(&config);
    keep_to(1);
    bystanders_begin(&router, sight, people);
    quiet = quiet_p99_us(seconds() < STRICT_S ? seconds() : 10, sight);
    cr_assert_neq(quiet, NO_ECHO, "no echo came back while nobody attacked");
    before_kib = daemon_rss_kib(&router);
    bound = bound_us(quiet, first);
    attacked = attacked_p99_us(&router, attacker, sight, &peak);
    for (int i = 1; i < TRIES && seconds() < STRICT_S && attacked >= bound; i++) {
        again = attacked_p99_us(&router, attacker, sight, &peak);
        attacked = again < attacked ? again : attacked;
    }
    fprintf(
        stderr,
        "%s, %d s: echo p99 %u us, quiet %u us; %u joins, the slowest %u us; memory %ld KiB, "
        "before %ld KiB; not taken by sockets %ld KiB\n",
        attacker_names[attacker], seconds(), attacked, quiet, sight->joins,
        sight->slowest_join_us, peak.kib, before_kib, peak.unsent / 1024);
    cr_expect_neq(attacked, NO_ECHO, "no echo came back while somebody attacked");
    cr_expect_lt(attacked, bound, "echoes took %u us, and %u us in a quiet moment", attacked,
                 quiet);
    cr_expect_eq(sight->lost, 0, "%u bystanders lost their connection", sight->lost);
    cr_expect_eq(sight->refused, 0, "%u of %u newcomers were refused", sight->refused,
                 sight->joins);
    cr_expect_lt(peak.kib - before_kib, GROWTH_MAX_KIB);
    sight->stop = true;
    attack_end(people, BYSTANDERS + 1);
    cr_expect_eq(daemon_stop(&router), 0, "exit status; log: %s", router.log);
}

/* Else people who hear nothing at all would be those who hear everything at once. */
Test(attack, that_silences_everybody_is_no_success)
{
    cr_expect_eq(bystanders_p99_us(attack_share(sizeof(struct sight))), NO_ECHO);
}

Test(attack, without_a_token, .timeout = 300)
{
    suffer(WITHOUT_TOKEN);
}

Test(attack, with_a_token_that_permits_nothing, .timeout = 300)
{
    suffer(SILENCED);
}

Test(attack, by_somebody_who_may_chat, .timeout = 300)
{
    suffer(CHATTER);
}

Test(attack, by_somebody_with_many_connections_who_reads_nothing, .timeout = 300)
{
    suffer(NOT_READING);
}

Test(attack, by_somebody_who_floods_from_many_connections, .timeout = 300)
{
    suffer(FLOODER);
}
