/*
 * A router that cannot store, or finds what is not its own. What breaks here: somebody whose
 * message was refused and turns up all the same; a room that ends because a disk is full; a file
 * that is overwritten because of a wrong path. Protocol: section 6.
 */
#define _GNU_SOURCE /* prlimit */
#include "tests/support/outside.h"
#include "tests/support/store_talk.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct store_router router;
static struct rude ann;

static void stop(void)
{
    rude_shut(&ann);
    talk_stop(&router);
}

TestSuite(store, .fini = stop, .timeout = 600);

/* ---- no room ---- */

enum { LARGE = 16000 };

/* Chats until one is refused; returns its number. */
static int fill(struct rude *rude)
{
    static char payload[LARGE + 32];
    struct frame frame;
    char id[32], part[40];

    snprintf(payload, sizeof payload, "{\"t\":\"%*d\"}", LARGE, 1);
    for (int i = 0; i < 10000; i++) {
        snprintf(id, sizeof id, "big%d", i);
        snprintf(part, sizeof part, "big%d\"", i);
        rude_chat(rude, id, payload);
        cr_assert(rude_expect(rude, part, &frame));
        if (!frame_holds(&frame, "system/error"))
            continue;
        cr_expect(frame_holds(&frame, "\"unavailable\""), "%.*s", (int)frame.len,
                  frame.payload);
        cr_expect(frame_holds(&frame, "\"refused\""), "%.*s", (int)frame.len, frame.payload);
        cr_expect(frame_holds(&frame, "retry_after_ms"), "%.*s", (int)frame.len,
                  frame.payload);
        return i;
    }
    cr_assert(false, "the disk never was full");
    return 0;
}

/* Everything but what needs room goes on. */
static void check_full(struct rude *witness, int refused)
{
    struct rude late = {0};
    char id[32];

    cr_expect(talk_becomes(&router, 503, "\"reasons\":[\"store full\"]"));
    talk_enter(&late, &router, "late", "&history=1", NULL);
    rude_shut(&late);
    snprintf(id, sizeof id, "big%d", refused);
    cr_expect_not(talk_history_holds(&router, id));
    snprintf(id, sizeof id, "big%d", refused - 1);
    cr_expect(talk_history_holds(&router, id));
    rude_frame(witness, PING, "x", 1);
    for (struct frame frame = {0}; frame.first != PONG;)
        cr_assert(rude_next(witness, &frame), "its connection has ended");
    cr_expect_gt(rude_metric(&router.daemon, "mcpx_store_rejected_total{reason=\"full\"}"), 0);
}

/*
 * Chats in topics of its own, more than one may have, and leaves. True when it was refused: it is
 * not where it holds most itself by then, and the file is full.
 */
static bool store_all_it_may(const char *name)
{
    static char payload[LARGE + 32];
    struct frame frame;
    char id[32], part[40], topic[40];

    snprintf(payload, sizeof payload, "{\"t\":\"%*d\"}", LARGE, 1);
    for (int i = 0; i < 13; i++) {
        struct rude rude = {0};
        bool refused = false;

        snprintf(topic, sizeof topic, "%s-%d", name, i);
        rude_join(&rude, &router.daemon, name, topic, "");
        for (int n = 0; n < 6 && !refused; n++) {
            snprintf(id, sizeof id, "big%d", n);
            snprintf(part, sizeof part, "big%d\"", n);
            rude_chat(&rude, id, payload);
            cr_assert(rude_expect(&rude, part, &frame));
            refused = frame_holds(&frame, "system/error");
        }
        if (refused) {
            cr_expect(frame_holds(&frame, "\"share_used\""), "%.*s", (int)frame.len,
                      frame.payload);
            cr_expect(frame_holds(&frame, "\"cap\":\"store.bytes_per_participant\""), "%.*s",
                      (int)frame.len, frame.payload);
        }
        rude_shut(&rude); /* the frame is gone with it */
        if (refused)
            return true;
    }
    return false;
}

/* Six fill a file that has room for four of them, and leave. Nobody else notices. */
Test(store, who_fills_the_file_is_in_nobodys_way)
{
    struct rude witness = {0};
    int refused = 0;

    talk_start(&router, ",\"file_bytes\":4194304", NULL, "");
    talk_enter(&ann, &router, "ann", "", NULL);
    talk_enter(&witness, &router, "witness", "", NULL);
    talk_say(&ann, "before", 1);
    talk_expect(&witness, "before0");
    for (int i = 0; i < 6; i++) {
        char name[16];

        snprintf(name, sizeof name, "mallory%d", i);
        refused += store_all_it_may(name);
    }
    cr_expect_eq(talk_ready(&router), 200);
    talk_say(&ann, "m", 50);
    talk_expect_order(&witness, "m", 0, 50);
    cr_expect_eq(talk_ready(&router), 200);
    cr_expect_eq(rude_metric(&router.daemon, "mcpx_store_rejected_total{reason=\"full\"}"), 0);
    cr_expect_eq(rude_metric(&router.daemon,
                             "mcpx_cap_refusals_total{cap=\"store.bytes_per_participant\"}"),
                 refused);
    cr_expect_geq(refused, 3);
    rude_shut(&ann);
    rude_shut(&witness);
    daemon_restart(&router.daemon, router.place.config, SIGTERM);
    cr_expect(talk_history_holds(&router, "before0"), "she holds less than they do");
    cr_expect(talk_history_holds(&router, "m49"));
}

static void limit_files(pid_t pid, rlim_t bytes)
{
    struct rlimit limit;

    cr_assert_eq(prlimit(pid, RLIMIT_FSIZE, NULL, &limit), 0);
    limit.rlim_cur = bytes;
    cr_assert_eq(prlimit(pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

Test(store, room_again_is_service_again)
{
    struct rude witness = {0};
    char id[32];
    int refused;

    talk_start(&router, "", NULL, "");
    limit_files(router.daemon.pid, 2 << 20);
    talk_enter(&ann, &router, "ann", "", NULL);
    talk_enter(&witness, &router, "witness", "", NULL);
    refused = fill(&ann);
    check_full(&witness, refused);
    limit_files(router.daemon.pid, RLIM_INFINITY);
    snprintf(id, sizeof id, "big%d", refused);
    rude_chat(&ann, id, "{\"t\":\"again\"}");
    talk_expect(&ann, id);
    talk_expect(&witness, id);
    cr_expect(talk_becomes(&router, 200, "ready"));
    cr_expect(daemon_logs(&router.daemon, "event=store_full"));
    cr_expect(daemon_logs(&router.daemon, "event=store_ready"));
    cr_expect_not(daemon_logged(&router.daemon, "/readyz"), "who asks is not turned away");
    rude_shut(&ann);
    rude_shut(&witness);
}

/* Chats until nobody is heard any more; copies the id of what is not answered. */
static void chat_until_blocked(struct rude *rude, char id[32])
{
    struct frame frame;
    char part[64];

    for (int i = 0; i < 100000; i++) {
        snprintf(id, 32, "m%d", i);
        snprintf(part, sizeof part, "\"id\":\"m%d\"", i);
        rude_chat(rude, id, "{}");
        do {
            if (talk_ready(&router) == 503)
                return;
            if (!rude_is_quiet(rude, 1))
                (void)rude_receive(rude);
        } while (!rude_take(rude, &frame));
        while (!frame_holds(&frame, part))
            cr_assert(rude_next(rude, &frame));
    }
}

/* What the disk has taken nobody can tell; so it is told as unknown, and a restart finds out. */
Test(store, a_disk_that_fails_refuses_until_a_restart)
{
    struct rude late = {0};
    struct frame frame;

    talk_start(&router, "", NULL, "");
    talk_restart_on_disk(&router);
    talk_enter(&ann, &router, "ann", "", NULL);
    talk_say(&ann, "m", 3);
    talk_expect_order(&ann, "m", 0, 3);
    talk_set_disk(&router, "fail");
    talk_say(&ann, "x", 1);
    cr_assert(rude_expect(&ann, "\"unavailable\"", &frame));
    cr_expect(frame_holds(&frame, "\"unknown\""), "%.*s", (int)frame.len, frame.payload);
    cr_expect(talk_becomes(&router, 503, "store failed"));
    talk_set_disk(&router, "fine");
    talk_say(&ann, "y", 1);
    cr_assert(rude_expect(&ann, "\"unavailable\"", &frame), "it is not to be trusted again");
    cr_expect(frame_holds(&frame, "\"refused\""), "%.*s", (int)frame.len, frame.payload);
    cr_expect_eq(rude_enter(&late, &router.daemon,
                            rude_token(&router.daemon, "late", "room", "[\"*\"]"),
                            "/ws?topic=room"),
                 503);
    rude_shut(&late);
    rude_shut(&ann);
    cr_expect(daemon_logs(&router.daemon, "event=store_failed"));
    daemon_restart(&router.daemon, router.place.config, SIGTERM);
    cr_expect(talk_history_holds(&router, "m2"));
    cr_expect_not(talk_history_holds(&router, "y0"));
}

/* Nobody is told anything meanwhile: who watches the router has to see that it is not idle. */
Test(store, a_disk_that_hangs_is_told_by_readyz)
{
    static const struct {
        const char *store, *audit, *reason, *events[2];
    } rows[] = {
        {",\"timeout_ms\":1000", NULL, "store slow", {"store_slow", "store_ready"}},
        {",\"timeout_ms\":1000", "", "audit slow", {"audit_slow", "audit_ready"}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char event[64];

        talk_start(&router, rows[i].store, rows[i].audit, "");
        talk_restart_on_disk(&router);
        talk_enter(&ann, &router, "ann", "", NULL);
        cr_expect(talk_becomes(&router, 200, "ready"));
        talk_set_disk(&router, "hang");
        talk_say(&ann, "m", 1);
        cr_expect(talk_becomes(&router, 503, rows[i].reason));
        talk_set_disk(&router, "fine");
        talk_expect(&ann, "m0");
        cr_expect(talk_becomes(&router, 200, "ready"));
        for (size_t n = 0; n < 2; n++) {
            snprintf(event, sizeof event, "event=%s", rows[i].events[n]);
            cr_expect(daemon_logs(&router.daemon, event), "%s", event);
        }
        rude_shut(&ann);
        talk_stop(&router);
    }
}

/* Somebody has a transaction open in a shell. SQLite locks this byte for it. */
Test(store, a_database_that_another_program_has_locked_is_told_by_readyz)
{
    struct flock taken = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 120, .l_len = 1};
    struct frame frame;
    int fd;

    talk_start(&router, "", NULL, "");
    talk_enter(&ann, &router, "ann", "", NULL);
    talk_say(&ann, "m", 1);
    talk_expect(&ann, "m0");
    fd = open(store_place_path(&router.place, "router.db-shm"), O_RDWR | O_CLOEXEC);
    cr_assert_eq(fcntl(fd, F_SETLK, &taken), 0);
    rude_chat(&ann, "x0", "{}");
    cr_assert(rude_expect(&ann, "\"unavailable\"", &frame));
    cr_expect(frame_holds(&frame, "\"refused\"") && frame_holds(&frame, "retry_after_ms"));
    cr_expect(talk_becomes(&router, 503, "\"reasons\":[\"store locked\"]"));
    cr_expect_eq(rude_metric(&router.daemon, "mcpx_unready{reason=\"store locked\"}"), 1);
    cr_expect(talk_history_holds(&router, "m0"));
    (void)close(fd);
    cr_expect(talk_becomes(&router, 200, "ready"));
    cr_expect(daemon_logs(&router.daemon, "event=store_locked"));
    talk_say(&ann, "n", 1);
    talk_expect(&ann, "n0");
}

/* Where nothing may happen unseen, everybody waits. */
Test(store, an_audit_that_blocks_makes_everybody_wait)
{
    char id[32];

    talk_start(&router, NULL, ",\"on_full\":\"block\"", "");
    talk_enter(&ann, &router, "ann", "", NULL);
    limit_files(router.daemon.pid, 65536);
    chat_until_blocked(&ann, id);
    cr_expect(talk_becomes(&router, 503, "audit full"));
    limit_files(router.daemon.pid, RLIM_INFINITY);
    talk_expect(&ann, id);
    cr_expect(talk_becomes(&router, 200, "ready"));
}

/* ---- files ---- */

/* Runs the program until it ends by itself; its exit status, and what it says. */
static int run(const char *option, char *output, size_t size)
{
    char path[256], command[8192];

    strcpy(path, store_place_path(&router.place, "config.json"));
    file_write_text(path, router.place.config);
    snprintf(command, sizeof command, "%s %s --dev --listen 127.0.0.1:0 --config %s 2>&1",
             daemon_program(), option, path);
    return command_run(command, output, size);
}

Test(store, a_file_that_cannot_be_used_is_named_and_left_alone, .timeout = 300)
{
    static char zeros[65536];
    static const struct {
        const char *what, *bytes;
        size_t len;
    } rows[] = {
        {"a picture", "\xff\xd8\xff\xe0JFIF", 8},
        {"zeros", zeros, sizeof zeros},
        {"a cut database", "SQLite format 3", 16},
        {"text", "hello\n", 6},
    };
    static char output[65536];
    struct stat status;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        store_place_make(&router.place, "", NULL, "");
        file_write(store_place_path(&router.place, "router.db"), rows[i].bytes, rows[i].len);
        cr_expect_eq(run("", output, sizeof output), 1, "%s: %s", rows[i].what, output);
        cr_expect(strstr(output, "router.db"), "%s: %s", rows[i].what, output);
        cr_expect_eq(stat(store_place_path(&router.place, "router.db"), &status), 0);
        cr_expect_eq((size_t)status.st_size, rows[i].len, "%s", rows[i].what);
        store_place_remove(&router.place);
    }
}

Test(store, places_that_cannot_be_used_are_named, .timeout = 300)
{
    static char output[65536];

    store_place_make(&router.place, "", NULL, "");
    cr_assert_eq(mkdir(store_place_path(&router.place, "router.db"), 0700), 0);
    cr_expect_eq(run("", output, sizeof output), 1, "%s", output);
    cr_expect(strstr(output, "router.db"), "%s", output);
    store_place_remove(&router.place);

    store_place_make(&router.place, NULL, "", "");
    file_write_text(store_place_path(&router.place, "key.pem"), "no key");
    cr_expect_eq(run("", output, sizeof output), 1, "%s", output);
    cr_expect(strstr(output, "key.pem"), "%s", output);
    store_place_remove(&router.place);

    talk_start(&router, "", "", "");
    cr_expect_eq(run("", output, sizeof output), 1, "%s", output);
    cr_expect(strstr(output, "in use"), "%s", output);
}

/* Before the service is restarted with it; nothing is made or changed. */
Test(store, check_tells_of_places_without_touching_them, .timeout = 300)
{
    static const struct {
        const char *name, *bytes;
        int status;
        const char *says;
    } rows[] = {
        {"x", "", 0, "configuration is valid"},
        {"router.db", NULL, 1, "router.db: is not a file"},
        {"audit", "", 1, "audit: is not a folder"},
        {"key.pem", "no key", 1, "audit.key_file: "},
    };
    static char output[65536];
    struct stat status;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        store_place_make(&router.place, "", "", "");
        if (rows[i].bytes)
            file_write_text(store_place_path(&router.place, rows[i].name), rows[i].bytes);
        else
            cr_assert_eq(mkdir(store_place_path(&router.place, rows[i].name), 0700), 0);
        cr_expect_eq(run("--check", output, sizeof output), rows[i].status, "%s: %s",
                     rows[i].name, output);
        cr_expect(strstr(output, rows[i].says), "%s: %s", rows[i].name, output);
        cr_expect_neq(stat(store_place_path(&router.place, "router.db.lock"), &status), 0);
        store_place_remove(&router.place);
    }
}
