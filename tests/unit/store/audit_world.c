/*
 * audit_world.c - the loop's side of an audit. `wake` writes into a pipe, so a test waits for what
 * it asserts and for no clock.
 */
#include "tests/unit/store/audit_world.h"
#include "tests/support/outside.h"

#include "lib/base/digits.h"
#include "tests/support/audit_chain.h"
#include <mcpx/json.h>

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEADLINE_MS = 120000 };

struct world world;

void world_new(void)
{
    struct mcpx_text pem = {0};

    memset(&world, 0, sizeof world);
    strcpy(world.root, "/tmp/mcpx-audit-XXXXXX");
    cr_assert_not_null(mkdtemp(world.root));
    snprintf(world.folder, sizeof world.folder, "%s/audit", world.root);
    snprintf(world.key_path, sizeof world.key_path, "%s/key.pem", world.root);
    world.key = test_audit_key(&pem);
    file_write(world.key_path, pem.text, pem.len);
    mcpx_text_fini(&pem);
    cr_assert_eq(pipe(world.wakes), 0);
    for (int end = 0; end < 2; end++)
        cr_assert_eq(fcntl(world.wakes[end], F_SETFL, O_NONBLOCK), 0);
    world.config = (struct audit_config){.folder = world.folder,
                                         .key_file = world.key_path,
                                         .rev = MCPX_SLICE("0011223344556677")};
}

static void wake(void *context)
{
    (void)context;
    (void)!write(world.wakes[1], "", 1);
}

enum mcpx_err world_open(struct mcpx_text *errors)
{
    struct mcpx_text own = {0};
    enum mcpx_err err =
        audit_new(&world.config, wake, NULL, errors ? errors : &own, &world.audit);

    cr_expect(errors || !err, "%s", own.text ? own.text : mcpx_strerror(err));
    mcpx_text_fini(&own);
    return err;
}

void world_send(size_t count, size_t bytes)
{
    static const struct mcpx_slice to[] = {{"bob", 3}};
    static char text[1 << 20];
    struct link list;

    list_init(&list);
    if (!text[0]) /* the audit may still read what was sent before */
        memset(text, 'x', sizeof text);
    for (size_t i = 0; i < count; i++) {
        struct submission *made = &world.submissions[world.sent++];

        *made = (struct submission){.what = i % 7 == 6 ? SUBMIT_JOIN : SUBMIT_MESSAGE,
                                    .ticket = world.sent,
                                    .topic = MCPX_SLICE("support/main"),
                                    .from = MCPX_SLICE("alice"),
                                    .id = MCPX_SLICE("an-id"),
                                    .kind = MCPX_SLICE("chat"),
                                    .kind_sent = MCPX_SLICE("chat"),
                                    .grant = MCPX_SLICE("chat*"),
                                    .text = {text, bytes},
                                    .to = to,
                                    .to_count = 1,
                                    .line = 77,
                                    .wall_ms = 1790000000000};
        if (made->what == SUBMIT_JOIN)
            made->text = made->id = (struct mcpx_slice){0};
        list_append(&list, &made->link);
    }
    work_queue_put(audit_queue(world.audit), &list, count);
}

void world_take(void)
{
    struct pollfd wakes = {.fd = world.wakes[0], .events = POLLIN};
    struct link list;
    char bytes[64];

    cr_assert_eq(poll(&wakes, 1, DEADLINE_MS), 1, "nothing is answered");
    while (read(world.wakes[0], bytes, sizeof bytes) > 0)
        continue;
    list_init(&list);
    work_queue_answers(audit_queue(world.audit), &list, &world.report);
    while (!list_is_empty(&list)) {
        struct link *first = list.next;

        list_remove(first);
        world.answered[world.answered_count++] = LIST_ELEMENT(first, struct submission, link);
    }
}

void world_settle(void)
{
    while (world.answered_count < world.sent)
        world_take();
    for (size_t i = 0; i < world.sent; i++)
        cr_expect_eq(world.answered[i], &world.submissions[i], "answer %zu is out of order",
                     i);
}

void world_close(void)
{
    audit_free(world.audit);
    world.audit = NULL;
}

struct audit_verdict world_verify(bool is_ended)
{
    struct audit_evidence evidence = {&world.key, 1, .is_ended = is_ended};
    struct audit_reader reader;
    struct audit_rows rows;
    struct audit_verdict verdict = {0};

    cr_assert_eq(audit_reader_open(world.folder, &reader), MCPX_OK);
    rows = (struct audit_rows){audit_reader_next, &reader};
    cr_assert_eq(audit_verify(&rows, &evidence, &verdict), MCPX_OK);
    cr_expect_eq(reader.error, 0);
    audit_reader_close(&reader);
    return verdict;
}

void world_expect_whole(bool is_ended)
{
    struct audit_verdict verdict = world_verify(is_ended);

    cr_expect_eq(verdict.damage, AUDIT_WHOLE, "%s at %u: %s",
                 audit_damage_name(verdict.damage), (unsigned)verdict.seq, verdict.reason);
    if (is_ended)
        cr_expect_eq(verdict.uncovered, 0);
}

size_t world_count(const char *what,
                   void (*found)(void *context, const struct audit_line *line), void *context)
{
    struct audit_reader reader;
    struct audit_row row;
    struct audit_line line;
    size_t count = 0;

    cr_assert_eq(audit_reader_open(world.folder, &reader), MCPX_OK);
    while (audit_reader_next(&reader, &row)) {
        cr_assert(audit_line_read(row.text, &line));
        if (!mcpx_slice_equal(line.name, mcpx_slice_of(what)))
            continue;
        count++;
        if (found)
            found(context, &line);
    }
    audit_reader_close(&reader);
    return count;
}

uint64_t world_number(const struct audit_line *line, const char *name)
{
    uint64_t number = 0;

    (void)mx_decimal_read(mcpx_json_get(line->whole, name), INT64_MAX, &number);
    return number;
}

static void empty(const char *path)
{
    DIR *stream = opendir(path);
    const struct dirent *entry;

    while (stream && (entry = readdir(stream)) != NULL)
        (void)unlinkat(dirfd(stream), entry->d_name, 0);
    if (stream)
        closedir(stream);
    (void)rmdir(path);
}

void world_free(void)
{
    world_close();
    empty(world.folder);
    empty(world.root);
    audit_key_free(world.key);
    close(world.wakes[0]);
    close(world.wakes[1]);
}
