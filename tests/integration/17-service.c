/*
 * Under a service manager. What breaks here: a machine that boots before its router listens, a
 * router that hangs and that nobody starts again, and clients that are refused while it is
 * restarted. Protocol: section 6 (1001); configuration: as a service.
 */
#include "tests/support/rude_client.h"
#include "tests/support/service.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct service service;

static const char ask[] = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";

/* The listening socket is there before the program is. */
Test(service, a_socket_handed_over_is_served, .timeout = 120)
{
    struct rude rude;

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 0);
    cr_expect_eq(rude_http(&rude, &service.daemon, ask), 200);
    rude_shut(&rude);
    cr_expect_eq(daemon_stop(&service.daemon), 0);
    service_close(&service);
}

/* It would give tokens to the whole network. */
Test(service, dev_mode_takes_no_socket_that_others_can_reach, .timeout = 120)
{
    service_open(&service, INADDR_ANY);
    service_start(&service, 0);
    cr_expect_eq(daemon_wait(&service.daemon), 1);
    service_close(&service);
}

/* Who is started after it may connect at once; who stops it knows that it has begun to. */
Test(service, its_manager_is_told_when_it_is_ready_and_when_it_stops, .timeout = 120)
{
    struct rude silent = {0};

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 0);
    service_expect(&service, "READY=1\nSTATUS=ready");
    rude_join(&silent, &service.daemon, "silent", "room", "");
    kill(service.daemon.pid, SIGTERM);
    service_expect(&service, "STOPPING=1");
    cr_expect_eq(rude_close_code(&silent), 1001);
    rude_shut(&silent);
    cr_expect_eq(daemon_wait(&service.daemon), 0);
    service_close(&service);
}

/* `systemctl status` says so meanwhile. An answer to a signal has to be of a later time
 * than that. */
Test(service, its_manager_is_told_of_a_reload, .timeout = 120)
{
    const char *asked = "RELOADING=1\nMONOTONIC_USEC=", *words;

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 0);
    service_expect(&service, "READY=1\nSTATUS=ready");
    for (int i = 0; i < 3; i++) {
        struct timespec before;

        clock_gettime(CLOCK_MONOTONIC, &before);
        kill(service.daemon.pid, SIGHUP);
        words = service_expect(&service, asked);
        cr_expect_geq(strtoll(words + strlen(asked), NULL, 10),
                      (long long)before.tv_sec * 1000000 + before.tv_nsec / 1000);
        service_expect(&service, "READY=1");
    }
    cr_expect_eq(daemon_stop(&service.daemon), 0);
    service_close(&service);
}

/* An idle loop turns as well; while it stops it is still watched. */
Test(service, the_watchdog_hears_that_the_loop_turns, .timeout = 120)
{
    struct rude silent = {0};
    char words[512];

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 40000);
    service_expect(&service, "READY=1");
    for (int i = 0; i < 20; i++) {
        long start_ms = support_now_ms();

        service_expect(&service, "WATCHDOG=1");
        cr_expect(support_now_ms() - start_ms < 5000, "long after it was due");
    }
    rude_join(&silent, &service.daemon, "silent", "room", "");
    kill(service.daemon.pid, SIGTERM);
    service_expect(&service, "STOPPING=1");
    service_expect(&service, "WATCHDOG=1");
    rude_shut(&silent);
    cr_expect_eq(daemon_wait(&service.daemon), 0);
    while (service_hears(&service, words, sizeof words))
        ;
    service_close(&service);
}

Test(service, whom_nobody_watches_tells_no_watchdog, .timeout = 120)
{
    char words[512];

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 0);
    service_expect(&service, "READY=1");
    cr_expect_eq(daemon_stop(&service.daemon), 0);
    while (service_hears(&service, words, sizeof words))
        cr_expect_not(strstr(words, "WATCHDOG"), "%s", words);
    service_close(&service);
}

/* Who connects while no program runs waits in the socket, for the next one. */
Test(service, nobody_is_refused_while_it_is_restarted, .timeout = 120)
{
    struct rude early;

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 0);
    service_expect(&service, "READY=1");
    cr_expect_eq(daemon_stop(&service.daemon), 0);
    rude_open(&early, &service.daemon, 0);
    rude_say(&early, ask);
    service_start(&service, 0);
    cr_expect_eq(rude_pass_head(&early), 200);
    rude_shut(&early);
    cr_expect_eq(daemon_stop(&service.daemon), 0);
    service_close(&service);
}
