/*
 * What breaks for whom: a router in a container that believes it has the machine to itself is
 * killed for its memory, with everybody in it. docs/configuration.md (how much memory that is).
 */
#include "lib/base/scoped.h"
#include "router/process/process.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/outside.h"

#include "router/connection/bounds.h"
#include "router/connection/edge.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Writes a file below a directory, with the directories on the way. */
static void put(const char *root, const char *path, const char *text)
{
    char full[512];

    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(full, 0700);
        *at = '/';
    }
    file_write_text(full, text);
}

Test(machine, memory_is_what_the_control_groups_leave)
{
    static const struct {
        const char *groups, *path, *bound;
        uint64_t expected; /* 0 = what the machine has */
    } rows[] = {
        {"0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max", "100000000\n", 100000000},
        {"0::/a/b\n", "/sys/fs/cgroup/a/memory.max", "100000001\n", 100000001},
        {"0::/\n", "/sys/fs/cgroup/memory.max", "100000002\n", 100000002},
        {"0::/a\n", "/sys/fs/cgroup/a/memory.max", "max\n", 0},
        {"9:cpu:/x\n4:memory:/d\n0::/\n", "/sys/fs/cgroup/memory/d/memory.limit_in_bytes",
         "100000003\n", 100000003},
        {"4:memory:/d\n", "/sys/fs/cgroup/memory/d/memory.limit_in_bytes",
         "9223372036854771712\n", 0},
        {"4:memory:/d\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "100000004\n",
         100000004},
        {"nonsense\n", "/sys/fs/cgroup/memory.max", "5\n", 0},
        {"0::/a\n", "/elsewhere", "5\n", 0},
    };
    uint64_t machine = machine_memory("/nonexistent");

    cr_expect_gt(machine, 100000004);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char root[] = "/tmp/mcpx-machine-XXXXXX";
        uint64_t expected = rows[i].expected ? rows[i].expected : machine;

        cr_assert_not_null(mkdtemp(root));
        put(root, "/proc/self/cgroup", rows[i].groups);
        put(root, rows[i].path, rows[i].bound);
        cr_expect_eq(machine_memory(root), expected, "%zu", i);
        folder_remove(root);
    }
}

Test(machine, a_quarter_of_it_is_for_logs)
{
    static const struct {
        size_t set;
        uint64_t memory;
        size_t expected;
    } rows[] = {
        {0, 4000000000, 1000000000},
        {0, 1000, BOUNDS_LOG_BYTES_MIN},
        {0, 0, BOUNDS_LOG_BYTES},
        {1048576, 4000000000, 1048576},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct config config = {.hub.log_bytes = rows[i].set};

        bounds_settle(&config, rows[i].memory);
        cr_expect_eq(config.hub.log_bytes, rows[i].expected, "%zu", i);
    }
}

/* Sizes in a log have 32 bits. */
Test(machine, no_message_is_too_large_for_what_carries_it)
{
    static const struct {
        size_t set, message, buffers;
    } rows[] = {
        {1024, 1024, 64 << 20},
        {8 << 20, 8 << 20, 64 << 20},
        {16 << 20, 16 << 20, 64 << 20},
        {(16 << 20) + 1, (16 << 20) + 1, (64 << 20) + 4},
        {512 << 20, 512 << 20, (size_t)2048 << 20},
        {0, 512 << 20, (size_t)2048 << 20},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct config config = {.hub.message_bytes = rows[i].set};

        cr_expect_eq(bounds_message(&config), rows[i].message, "%zu", i);
        cr_expect_eq(bounds_buffers(&config), rows[i].buffers, "%zu", i);
    }
}

Test(machine, every_bound_is_told)
{
    struct config config = {.hub = hub_config_default(), .connects_per_s = 7};
    mx_scoped_text text = {0};

    config.hub.log_bytes = 123456789;
    config.hub.connections_each = 0;
    bounds_write(&config, &text);
    cr_expect(strstr(text.text, "bound: bytes of logs: 117.7 MiB, of one topic: 32 MiB\n"));
    cr_expect(strstr(text.text, "bound: bytes that sockets have not taken: 64 MiB\n"));
    cr_expect(strstr(text.text, "bound: bytes that were read and wait for their turn: "));
    cr_expect(strstr(text.text, "bound: topics: 10000, of one participant: 1000\n"));
    cr_expect(strstr(text.text, "bound: connections: 20000, of one participant: no limit\n"));
    cr_expect(
        strstr(text.text, "bound: connection attempts per second: 70, of one address: 7\n"));
    cr_expect_null(strstr(text.text, "stored"), "nothing waits where nothing is stored");
    mcpx_text_reset(&text);
    config.hub.needs_commit = true;
    config.hub.pending_bytes = 1000000;
    bounds_write(&config, &text);
    cr_expect(strstr(text.text, "bound: bytes of messages that wait to be stored or audited: "
                                "976.5 KiB, of one participant: 244.1 KiB\n"));
}

/* Who has too little wants to know before the first connection is refused. */
Test(machine, what_the_bounds_need_is_told_beside_what_there_is)
{
#define MEMORY "need: bytes of memory: 205.3 MiB at most"
#define PARTS                                                                                 \
    "need: of the memory: 976.1 KiB for the program and its configuration, 11.2 MiB for "     \
    "logs, 192 MiB for messages on their way, 1.1 MiB for connections\n"
#define FILES "need: file descriptors: 1380 at most"
    static const struct {
        struct machine_limits machine;
        const char *text;
    } rows[] = {
        {{1 << 30, 2000, 999600},
         MEMORY ", there are 1 GiB\n" PARTS FILES ", there are 2000\n"},
        {{200000000, 1024, 999600},
         MEMORY ", there are 190.7 MiB: too few, lower limits.log_bytes\n" PARTS FILES
                ", there are 1024: too few, raise LimitNOFILE= or ulimit -n, or lower "
                "limits.connections\n"},
        {{0, 0, 999600}, MEMORY "\n" PARTS FILES "\n"},
    };
    struct config config = {.hub = hub_config_default()};

    config.hub.connections_max = 100;
    config.hub.log_bytes = 11771600; /* and 3 * 64 MiB, and 100 * 12 KiB */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_text text = {0};

        bounds_write_needs(&config, &rows[i].machine, &text);
        cr_expect_str_eq(text.text, rows[i].text);
        mcpx_text_fini(&text);
    }
}

/* Who turns on TLS, a store or an audit has to see that it takes memory. */
Test(machine, each_part_that_takes_memory_is_told)
{
    struct config config = {.hub = hub_config_default(), .tls.wanted = true};
    mx_scoped_text text = {0};

    config.hub.connections_max = 100;
    config.hub.history_bytes = 1 << 20;
    config.hub.stored = config.hub.audited = config.hub.needs_commit = true;
    config.hub.pending_bytes = 1 << 20;
    bounds_write_needs(&config, &(struct machine_limits){0, 0, 1}, &text);
    cr_expect(strstr(text.text, "193 MiB for messages on their way, "), "%s", text.text);
    cr_expect(strstr(text.text, ", 4.6 MiB for TLS, "), "%s", text.text);
    cr_expect(strstr(text.text, ", 34 MiB for the store, 20 MiB for the audit\n"), "%s",
              text.text);
    mcpx_text_reset(&text);
    config.audit.payloads = true;
    config.hub.message_bytes = 16 << 20;
    bounds_write_needs(&config, &(struct machine_limits){0, 0, 1}, &text);
    cr_expect(strstr(text.text, ", 68 MiB for the audit\n"), "%s", text.text);
}
