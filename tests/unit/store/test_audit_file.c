/*
 * What breaks for whom: a message that somebody received has to have its line, whatever happens to
 * the router; a folder that is not an audit's any more has to be left alone. docs/audit.md.
 */
#include "router/store/audit/audit_writer.h"
#include "tests/support/audit_chain.h"
#include "tests/support/outside.h"
#include "tests/unit/store/audit_world.h"

#include <mcpx/json.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_file(const char *name, const char *text)
{
    char path[160];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", world.folder, name);
    file = fopen(path, "a");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

TestSuite(audit_file, .init = world_new, .fini = world_free);

/* The line of each submission says what it is about, and is on the disk before the answer. */
static void check_line(void *context, const struct audit_line *line)
{
    bool found = false;

    (void)context;
    for (size_t i = 0; i < world.sent; i++)
        found |= world.submissions[i].line == line->seq;
    cr_expect(found, "no submission has line %u", (unsigned)line->seq);
    cr_expect(mcpx_json_equals(mcpx_json_get(line->whole, "grant"), MCPX_SLICE("chat*")));
    cr_expect(
        mcpx_json_equals(mcpx_json_get(line->whole, "rev"), MCPX_SLICE("0011223344556677")));
    cr_expect_eq(world_number(line, "bytes"), 256);
    cr_expect_null(mcpx_json_get(line->whole, "text").text);
}

Test(audit_file, a_submission_goes_on_when_its_line_is_on_the_disk)
{
    cr_assert_not(world_open(NULL));
    for (int i = 0; i < 30; i++)
        world_send(100, 256);
    world_settle();
    for (size_t i = 0; i < world.sent; i++) {
        cr_expect_eq(world.submissions[i].rejection.err, MCPX_OK);
        cr_expect_eq(world.submissions[i].line > 2 && world.submissions[i].line < 4000, 1);
    }
    world_expect_whole(false);
    cr_expect_eq(world_count("allow", check_line, NULL) + world_count("join", NULL, NULL),
                 3000);
    world_close();
    world_expect_whole(true);
    cr_expect_eq(world_count("stop", NULL, NULL), 1);
    cr_expect_geq(world_count("checkpoint", NULL, NULL), 4);
}

static void check_cut(void *context, const struct audit_line *line)
{
    *(uint64_t *)context += world_number(line, "cut");
}

/* kill -9 in the middle of a write leaves a torn line; nobody was told of it. */
Test(audit_file, the_chain_goes_on_after_any_end)
{
    uint64_t cut = 0;

    for (int i = 0; i < 3; i++) {
        cr_assert_not(world_open(NULL));
        world_send(10, 256);
        world_settle();
        world_close();
        write_file("audit-1.jsonl", i == 1 ? "{\"seq\":99,\"torn" : "");
    }
    world_expect_whole(true);
    cr_expect_eq(world_count("start", check_cut, &cut), 3);
    cr_expect_eq(cut, 15);
}

Test(audit_file, a_file_that_is_large_is_followed_by_another)
{
    struct audit_reader reader;
    struct stat about;
    char path[160];

    world.config.rotate_bytes = 20000;
    cr_assert_not(world_open(NULL));
    for (int i = 0; i < 20; i++) {
        world_send(20, 256);
        world_settle();
    }
    world_close();
    world_expect_whole(true);
    cr_assert_not(audit_reader_open(world.folder, &reader));
    cr_expect_geq(reader.count, 5);
    for (size_t i = 0; i < reader.count; i++) {
        snprintf(path, sizeof path, "%s/audit-%lu.jsonl", world.folder,
                 (unsigned long)reader.seqs[i]);
        cr_assert_eq(stat(path, &about), 0);
        cr_expect_eq(about.st_mode & 07777, 0600);
    }
    cr_expect_eq(world_count("begin", NULL, NULL), reader.count);
    audit_reader_close(&reader);
}

/* A signature for each line would be most of the audit. */
Test(audit_file, signs_now_and_then_however_long_nothing_was_to_be_signed)
{
    cr_assert_not(world_open(NULL));
    /* with "begin" and "start" that is up to a checkpoint */
    world_send(AUDIT_SIGN_LINES - 3, 16);
    world_settle();
    for (int i = 0; i < 50; i++) {
        world_send(1, 16);
        world_settle();
    }
    world_close();
    world_expect_whole(true);
    cr_expect_lt(world_count("checkpoint", NULL, NULL), 10);
}

/* The router ended between making a file and writing to it. */
Test(audit_file, a_file_that_was_only_begun_is_gone_on_with)
{
    struct audit_verdict verdict;
    char name[40];

    cr_assert_not(world_open(NULL));
    world_send(10, 256);
    world_settle();
    world_close();
    verdict = world_verify(true);
    snprintf(name, sizeof name, "audit-%u.jsonl", (unsigned)verdict.last_seq + 1);
    write_file(name, "{\"seq\"");
    cr_assert_not(world_open(NULL));
    world_close();
    world_expect_whole(true);
    cr_expect_eq(world_count("begin", NULL, NULL), 2);
}

static void sum_lost(void *context, const struct audit_line *line)
{
    *(uint64_t *)context += world_number(line, "count");
}

Test(audit_file, refusals_have_a_share_and_the_rest_is_counted)
{
    uint64_t lost = 0;
    struct audit_note refuse = {.what = AUDIT_REFUSE,
                                .wall_ms = 1790000000000,
                                .from = MCPX_SLICE("mallory"),
                                .kind_sent = MCPX_SLICE("chat"),
                                .error = MCPX_SLICE("capability_violation")};
    struct audit_note away = {.what = AUDIT_TURNED_AWAY,
                              .wall_ms = 1790000000000,
                              .address = MCPX_SLICE("192.0.2.1"),
                              .error = MCPX_SLICE("unauthorized")};
    struct audit_note undelivered = {.what = AUDIT_UNDELIVERED, .wall_ms = 1, .of = 3};

    cr_assert_not(world_open(NULL));
    for (int i = 0; i < 10000; i++) {
        audit_tell(world.audit, &refuse);
        audit_tell(world.audit, &away);
        audit_tell(world.audit, &undelivered);
    }
    world_send(1, 256);
    world_settle();
    cr_expect_geq(world.report.lines, 10000 + 200 + 1);
    world_close();
    world_expect_whole(true);
    cr_expect_eq(world_count("undelivered", NULL, NULL), 10000);
    cr_expect_geq(world_count("refuse", NULL, NULL), 100);
    world_count("lost", sum_lost, &lost);
    cr_expect_eq(world_count("refuse", NULL, NULL) + world_count("turned_away", NULL, NULL) +
                     lost,
                 20000);
}

static void check_mallory(void *context, const struct audit_line *line)
{
    (void)line;
    ++*(size_t *)context;
    cr_expect_eq(world_number(line, "count"), 9900);
    cr_expect(mcpx_slice_equal(mcpx_json_get(line->whole, "from"), MCPX_SLICE("\"mallory\"")));
}

/* Who fills the audit is named, and takes nothing from anybody else. */
Test(audit_file, who_is_refused_too_often_is_named)
{
    struct audit_note refuse = {
        .what = AUDIT_REFUSE, .wall_ms = 1, .kind_sent = MCPX_SLICE("x")};
    size_t told = 0;

    cr_assert_not(world_open(NULL));
    for (int i = 0; i < 10010; i++) {
        refuse.from = i < 10000 ? MCPX_SLICE("mallory") : MCPX_SLICE("ann");
        audit_tell(world.audit, &refuse);
    }
    world_close();
    world_expect_whole(true);
    cr_expect_eq(world_count("refuse", NULL, NULL), 110);
    world_count("lost", check_mallory, &told);
    cr_expect_eq(told, 1);
}

/* Notes and submissions stand in the order in which they were handed over. */
static void check_order(void *context, const struct audit_line *line)
{
    uint64_t *last = context;

    cr_expect_gt(world_number(line, "of"), *last);
    cr_expect_eq(line->seq, world_number(line, "of") * 2 + 2);
    *last = world_number(line, "of");
}

Test(audit_file, a_note_stands_behind_what_was_put_before_it)
{
    uint64_t last = 0;

    cr_assert_not(world_open(NULL));
    for (uint64_t i = 1; i <= 300; i++) {
        struct audit_note note = {.what = AUDIT_UNDELIVERED, .wall_ms = 1, .of = i};

        world_send(1, 10);
        audit_tell(world.audit, &note);
    }
    world_settle();
    world_close();
    cr_expect_eq(world_count("undelivered", check_order, &last), 300);
}

Test(audit_file, lines_hold_envelopes_where_that_is_asked_for)
{
    struct mcpx_text text = {0};
    struct audit_reader reader;
    struct audit_row row;
    struct audit_line line;

    world.config.payloads = true;
    cr_assert_not(world_open(NULL));
    world_send(1, 1 << 20);
    world_settle();
    world_close();
    cr_assert_not(audit_reader_open(world.folder, &reader));
    for (int i = 0; i < 3; i++)
        cr_assert(audit_reader_next(&reader, &row));
    cr_assert(audit_line_read(row.text, &line));
    cr_expect(mcpx_json_add_unescaped(&text, mcpx_json_get(line.whole, "text")));
    cr_expect_eq(text.len, 1 << 20);
    mcpx_text_fini(&text);
    audit_reader_close(&reader);
}

/* What a folder may be found as, and what is said of it. Nothing in it is touched. */
static void no_key(void)
{
    unlink(world.key_path);
}

static void key_of_nothing(void)
{
    file_write_text(world.key_path, "secret-but-no-key\n");
}

static void in_use(void)
{
    struct audit_config config = world.config;
    struct audit *other;
    struct mcpx_text errors = {0};

    cr_assert_not(audit_new(&config, (void (*)(void *))free, NULL, &errors, &other));
}

static void a_file(void)
{
    file_write_text(world.folder, "x");
}

static void garbage(void)
{
    mkdir(world.folder, 0700);
    write_file("audit-1.jsonl", "garbage\n");
}

static void a_picture(void)
{
    mkdir(world.folder, 0700);
    write_file("audit-1.jsonl", "\xff\xd8\xff\xe0 no line feed");
    write_file("audit-9.jsonl", "");
}

static void a_folder_inside(void)
{
    char path[160];

    mkdir(world.folder, 0700);
    snprintf(path, sizeof path, "%s/audit-1.jsonl", world.folder);
    mkdir(path, 0700);
}

static void a_link(void)
{
    char path[160];

    mkdir(world.folder, 0700);
    snprintf(path, sizeof path, "%s/audit-1.jsonl", world.folder);
    cr_assert_eq(symlink("/etc/hostname", path), 0);
}

static const struct {
    void (*prepare)(void);
    enum mcpx_err err;
    const char *said;
} found[] = {
    {no_key, MCPX_ESYSTEM, "key.pem\": No such file"},
    {key_of_nothing, MCPX_ECONFIG, "expected a private Ed25519 key"},
    {in_use, MCPX_ECONFIG, "is in use by another router"},
    {a_file, MCPX_ESYSTEM, "Not a directory"},
    {garbage, MCPX_ECONFIG, "audit-1.jsonl: ends with bytes that are not a line"},
    {a_picture, MCPX_ECONFIG, "its newest file has no line"},
    {a_folder_inside, MCPX_ESYSTEM, "audit-1.jsonl: "},
    {a_link, MCPX_ESYSTEM, "audit-1.jsonl: "},
};

Test(audit_file, what_is_no_audit_is_named_and_left_alone)
{
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        struct mcpx_text errors = {0};

        world_free();
        world_new();
        found[i].prepare();
        cr_expect_eq(world_open(&errors), found[i].err, "row %zu", i);
        cr_expect(errors.text && strstr(errors.text, found[i].said), "row %zu: %s", i,
                  errors.text ? errors.text : "nothing");
        cr_expect(errors.text && strchr(errors.text, '\n') == errors.text + errors.len - 1);
        cr_expect(errors.text && !strstr(errors.text, "secret"));
        mcpx_text_fini(&errors);
    }
}

/* An auditor's program would wait for ever for whoever writes to a pipe. */
Test(audit_file, what_is_no_file_is_not_read)
{
    struct audit_reader reader;
    struct audit_row row;
    char path[160];

    cr_assert_eq(mkdir(world.folder, 0700), 0);
    snprintf(path, sizeof path, "%s/audit-1.jsonl", world.folder);
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_eq(audit_reader_open(world.folder, &reader), MCPX_OK);
    (void)alarm(20); /* else the reader waits */
    cr_expect_not(audit_reader_next(&reader, &row));
    (void)alarm(0);
    cr_expect_eq(reader.error, EINVAL);
    audit_reader_close(&reader);
}
