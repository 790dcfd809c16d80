/*
 * What breaks for whom: an operator looks into the newest log and finds none, or half a line; a
 * full disk ends a bridge; a run removes a file that is not its own.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "lib/edge/log_files.h"
#include "tests/support/fault_alloc.h"
#include "tests/support/outside.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/mcpx-journal-XXXXXX";
static int complaints;
static char complaint[1024];

/* What write and ftruncate do the next time: see below. */
static enum how { WELL, SHORT, FULL, INTERRUPTED } next_write;
static bool no_truncation;

ssize_t __real_write(int fd, const void *bytes, size_t len);
ssize_t __wrap_write(int fd, const void *bytes, size_t len);
int __real_ftruncate(int fd, off_t len);
int __wrap_ftruncate(int fd, off_t len);

ssize_t __wrap_write(int fd, const void *bytes, size_t len)
{
    enum how how = next_write;

    next_write = WELL;
    errno = how == INTERRUPTED ? EINTR : ENOSPC;
    if (how == SHORT)
        return __real_write(fd, bytes, len / 2);
    return how == WELL ? __real_write(fd, bytes, len) : -1;
}

int __wrap_ftruncate(int fd, off_t len)
{
    errno = EIO;
    return no_truncation ? -1 : __real_ftruncate(fd, len);
}

static void complain(void *user, const char *sentence)
{
    (void)user;
    complaints++;
    snprintf(complaint, sizeof complaint, "%s", sentence);
}

static int run(const char *line)
{
    int status = system(line);

    return WEXITSTATUS(status);
}

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(dir));
    cr_assert_eq(chdir(dir), 0);
    umask(022);
}

static void tear_down(void)
{
    folder_remove(dir);
}

TestSuite(files, .init = set_up, .fini = tear_down);

/* 2026-11-22T05:54:52.123Z, and so many milliseconds later. */
static struct mx_log_files_config config_at(int64_t ms, size_t keep)
{
    return (struct mx_log_files_config){.dir = "runs/here",
                                        .keep = keep,
                                        .wall_ms = INT64_C(1795326892123) + ms,
                                        .pid = 4711,
                                        .complain = complain};
}

static struct mx_log_files *open_at(int64_t ms, size_t keep)
{
    struct mx_log_files_config config = config_at(ms, keep);
    struct mx_log_files *files = mx_log_files_open(&config);

    cr_assert_not_null(files);
    return files;
}

#define VALIDATION "runs/here/envelope_validation/"
#define TELEMETRY "runs/here/telemetry/"

static void expect_file(const char *path, const char *text)
{
    char found[1024] = "";
    FILE *file = fopen(path, "r");

    cr_assert_not_null(file, "%s", path);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    cr_expect_str_eq(found, text, "%s", path);
}

static int mode_of(const char *path)
{
    struct stat about;

    cr_assert_eq(lstat(path, &about), 0, "%s", path);
    return (int)about.st_mode & 07777;
}

/* Files of runs in the telemetry folder. */
static int count_runs(void)
{
    const struct dirent *entry;
    DIR *stream = opendir(TELEMETRY);
    int count = 0;

    cr_assert_not_null(stream);
    while ((entry = readdir(stream)) != NULL)
        count += strstr(entry->d_name, ".4711.jsonl") != NULL;
    closedir(stream);
    return count;
}

Test(files, R002_17_has_a_file_of_each_log_for_a_run_and_a_link_to_it)
{
    struct mx_log_files *files = open_at(0, 5);
    char target[128] = "";

    mx_log_files_write(files, MCPX_RECORD_VALIDATION, MCPX_SLICE("{\"v\":1}\n"));
    mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("{\"t\":1}\n"));
    mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("{\"t\":2}\n"));
    expect_file(VALIDATION "20261122T055452.123Z.4711.jsonl", "{\"v\":1}\n");
    expect_file(VALIDATION "envelope_validation.latest.jsonl", "{\"v\":1}\n");
    expect_file(TELEMETRY "20261122T055452.123Z.4711.jsonl", "{\"t\":1}\n{\"t\":2}\n");
    expect_file(TELEMETRY "telemetry.latest.jsonl", "{\"t\":1}\n{\"t\":2}\n");
    cr_expect_gt(readlink(TELEMETRY "telemetry.latest.jsonl", target, sizeof target - 1), 0);
    cr_expect_str_eq(target, "20261122T055452.123Z.4711.jsonl", "it may be moved");
    cr_expect_eq(mode_of("runs"), 0700);
    cr_expect_eq(mode_of(TELEMETRY), 0700);
    cr_expect_eq(mode_of(TELEMETRY "20261122T055452.123Z.4711.jsonl"), 0600);
    mx_log_files_close(files);
    cr_expect_eq(complaints, 0, "%s", complaint);
    cr_expect_eq(run("test -z \"$(find . -name '.[a-z]*')\""), 0, "nothing is left over");
}

Test(files, R002_17_keeps_the_newest_files_and_those_of_others)
{
    cr_assert_eq(run("mkdir -p " TELEMETRY " && cd " TELEMETRY
                     " && touch notes.txt 20200101T000000.000Z.1.jsonl.gz 2020.jsonl"
                     " 20200101T000000.000Z.jsonl && mkdir 20200101T000000.000Z.1.jsonl"),
                 0);
    for (int i = 0; i < 8; i++)
        mx_log_files_close(open_at(i, 5));
    cr_expect_eq(count_runs(), 5);
    cr_expect_eq(run("cd " TELEMETRY " && ls 20261122T055452.12[6-9]Z.4711.jsonl "
                     "20261122T055452.130Z.4711.jsonl notes.txt 2020.jsonl "
                     "20200101T000000.000Z.1.jsonl.gz 20200101T000000.000Z.jsonl "
                     ">/dev/null && test -d 20200101T000000.000Z.1.jsonl"),
                 0);
    mx_log_files_close(open_at(8, 0));
    cr_expect_eq(count_runs(), 1);
    cr_expect_eq(complaints, 0, "%s", complaint);
}

Test(files, R002_17_what_is_written_to_stays_whatever_its_name_is)
{
    struct mx_log_files *other = open_at(0, 1), *files;

    for (int i = 1; i < 4; i++)
        mx_log_files_close(open_at(i, 1));
    files = open_at(-1000, 1); /* the clock was set back */
    mx_log_files_write(other, MCPX_RECORD_TELEMETRY, MCPX_SLICE("other\n"));
    mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("own\n"));
    expect_file(TELEMETRY "20261122T055452.123Z.4711.jsonl", "other\n");
    expect_file(TELEMETRY "20261122T055451.123Z.4711.jsonl", "own\n");
    expect_file(TELEMETRY "telemetry.latest.jsonl", "own\n");
    cr_expect_eq(count_runs(), 3);
    mx_log_files_close(other);
    mx_log_files_close(files);
    mx_log_files_close(open_at(9, 1));
    cr_expect_eq(count_runs(), 1);
}

/* A bridge that runs for a year fills the disk, or a line is lost or torn at the end of a file. */
Test(files, goes_on_in_a_new_file_when_one_is_full)
{
    struct mx_log_files_config config = config_at(0, 3);
    struct mx_log_files *files, *other = open_at(-5, 3);
    char line[] = "{\"n\":0000}\n";

    config.file_bytes = 100; /* nine lines */
    files = mx_log_files_open(&config);
    for (int i = 0; i < 27; i++) {
        snprintf(line, sizeof line, "{\"n\":%04d}\n", i);
        mx_log_files_write(files, MCPX_RECORD_TELEMETRY, mcpx_slice_of(line));
    }
    cr_expect_eq(count_runs(), 4, "three, and that of the other process");
    cr_expect_eq(
        run("cat " TELEMETRY "2*.jsonl > all && seq -f '{\"n\":%04g}' 0 26 | cmp - all"), 0,
        "each line once, whole, in order");
    cr_expect_eq(run("find " TELEMETRY " -name '2*' -size +100c | grep -q ."), 1);
    cr_expect_eq(run("test $(tail -n 1 " TELEMETRY "telemetry.latest.jsonl) = '{\"n\":0026}'"),
                 0);

    mx_log_files_write(files, MCPX_RECORD_TELEMETRY, mcpx_slice_of(line));
    cr_expect_eq(count_runs(), 4, "the oldest gave way");
    mx_log_files_close(files);
    files = mx_log_files_open(&config);
    mx_log_files_write(files, MCPX_RECORD_TELEMETRY, mcpx_slice_of(line));
    cr_expect_leq(count_runs(), 5, "a restart counts the files of the run before");
    expect_file(VALIDATION "20261122T055452.123Z.4711.jsonl", "");
    mx_log_files_close(files);
    mx_log_files_close(other);
    cr_expect_eq(complaints, 0, "%s", complaint);
}

Test(files, two_runs_of_one_moment_have_files_of_their_own)
{
    struct mx_log_files *one = open_at(0, 5), *two = open_at(0, 5);

    mx_log_files_write(one, MCPX_RECORD_TELEMETRY, MCPX_SLICE("one\n"));
    mx_log_files_write(two, MCPX_RECORD_TELEMETRY, MCPX_SLICE("two\n"));
    expect_file(TELEMETRY "20261122T055452.123Z.4711.jsonl", "one\n");
    expect_file(TELEMETRY "20261122T055452.124Z.4711.jsonl", "two\n");
    mx_log_files_close(one);
    mx_log_files_close(two);
}

/* How often both links were followed, told to another process; what that one says ends it. */
struct following {
    atomic_int rounds;
    atomic_bool is_over;
};

/* Follows both links over and over; exits with 1 when one was missing. */
static void follow_links(struct following *following)
{
    bool missed = false;

    while (!atomic_load(&following->is_over)) {
        int one = open(VALIDATION "envelope_validation.latest.jsonl", O_RDONLY);
        int other = open(TELEMETRY "telemetry.latest.jsonl", O_RDONLY);

        missed |= one < 0 || other < 0;
        close(one);
        close(other);
        atomic_fetch_add(&following->rounds, 1);
    }
    _exit(missed);
}

/* A file that a link led to stays for two runs more: the reader has ended a round by then. */
Test(files, R002_17_no_reader_ever_misses_the_link, .timeout = 120)
{
    struct following *following = mmap(NULL, sizeof *following, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    pid_t reader;

    cr_assert_neq(following, MAP_FAILED);
    mx_log_files_close(open_at(0, 3));
    reader = fork();
    cr_assert_geq(reader, 0);
    if (reader == 0)
        follow_links(following);
    for (int i = 1; i <= 100; i++) {
        int rounds = atomic_load(&following->rounds);
        struct mx_log_files *files = open_at(i, 3);

        mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("{}\n"));
        mx_log_files_close(files);
        while (atomic_load(&following->rounds) == rounds)
            sched_yield();
    }
    atomic_store(&following->is_over, true);
    cr_assert_eq(waitpid(reader, &status, 0), reader);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_expect_eq(complaints, 0, "%s", complaint);
    munmap(following, sizeof *following);
}

Test(files, what_stands_in_the_way_stays_and_is_told_once)
{
    static const struct {
        const char *before, *says, *after;
        int complaints;
    } rows[] = {
        {"mkdir runs && touch runs/here", "log runs/here/telemetry: Not a directory; calls",
         "test -f runs/here", 2},
        {"mkdir -p runs/here && touch runs/here/telemetry",
         "log runs/here/telemetry: Not a directory; calls", "test -f runs/here/telemetry", 1},
        {"mkdir -p runs/here target && ln -s ../../target runs/here/telemetry",
         "log runs/here/telemetry: ", "test -z \"$(ls target)\"", 1},
        {"mkdir -p " TELEMETRY " && echo mine > " TELEMETRY "telemetry.latest.jsonl",
         "log runs/here/telemetry: File exists; calls",
         "grep -q mine " TELEMETRY "telemetry.latest.jsonl", 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mx_log_files *files;

        complaints = 0;
        cr_assert_eq(run(rows[i].before), 0);
        files = open_at(0, 5);
        for (int line = 0; line < 3; line++) {
            mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("{}\n"));
            mx_log_files_write(files, MCPX_RECORD_VALIDATION, MCPX_SLICE("{}\n"));
        }
        mx_log_files_close(files);
        cr_expect_eq(complaints, rows[i].complaints, "%s: %s", rows[i].before, complaint);
        cr_expect_not_null(strstr(complaint, rows[i].says), "%s", complaint);
        cr_expect_eq(run(rows[i].after), 0, "%s", rows[i].after);
        cr_assert_eq(run("rm -rf runs target"), 0);
    }
}

Test(files, a_line_is_written_whole_or_not_at_all)
{
    static const struct {
        enum how how;
        const char *left;
        const char *says;
    } rows[] = {
        {SHORT, "one\nthree\n", "a line was written only in part"},
        {FULL, "one\nthree\n", "No space left on device"},
        {INTERRUPTED, "one\ntwo two\nthree\n", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mx_log_files *files = open_at((int64_t)i, 5);

        complaints = 0;
        complaint[0] = '\0';
        mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("one\n"));
        next_write = rows[i].how;
        mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("two two\n"));
        next_write = rows[i].how == INTERRUPTED ? WELL : rows[i].how;
        if (next_write != WELL)
            mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("again\n"));
        mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("three\n"));
        mx_log_files_close(files);
        expect_file(TELEMETRY "telemetry.latest.jsonl", rows[i].left);
        cr_expect_eq(complaints, rows[i].how != INTERRUPTED);
        cr_expect_not_null(strstr(complaint, rows[i].says), "%s", complaint);
    }
}

Test(files, half_a_line_that_cannot_be_taken_back_is_the_last)
{
    struct mx_log_files *files = open_at(0, 5);

    next_write = SHORT;
    no_truncation = true;
    mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("four\n"));
    mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("five\n"));
    mx_log_files_write(files, MCPX_RECORD_VALIDATION, MCPX_SLICE("six\n"));
    mx_log_files_close(files);
    expect_file(TELEMETRY "telemetry.latest.jsonl", "fo");
    expect_file(VALIDATION "envelope_validation.latest.jsonl", "six\n");
    cr_expect_eq(complaints, 1);
}

/* Such a bound sends SIGXFSZ, which would end the process. */
Test(files, a_bound_on_the_size_of_files_stops_no_call)
{
    struct rlimit bound;
    struct mx_log_files *files = open_at(0, 5);

    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &bound), 0);
    bound.rlim_cur = 20;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &bound), 0);
    for (int i = 0; i < 5; i++)
        mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("123456789\n"));
    mx_log_files_write(files, MCPX_RECORD_VALIDATION, MCPX_SLICE("123456789\n"));
    mx_log_files_close(files);
    bound.rlim_cur = bound.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &bound), 0);
    expect_file(TELEMETRY "telemetry.latest.jsonl", "123456789\n123456789\n");
    expect_file(VALIDATION "envelope_validation.latest.jsonl", "123456789\n");
    cr_expect_eq(complaints, 1);
    cr_expect_not_null(strstr(complaint, "File too large"), "%s", complaint);
}

static int count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 100; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

Test(files, without_memory_there_is_none_or_it_works)
{
    int before = count_descriptors();

    FAULT_ALLOC_EACH(nth, 2) {
        struct mx_log_files_config config = config_at((int64_t)nth, 2);
        struct mx_log_files *files = mx_log_files_open(&config);

        fault_alloc_disarm();
        if (files) {
            mx_log_files_write(files, MCPX_RECORD_TELEMETRY, MCPX_SLICE("{}\n"));
            expect_file(TELEMETRY "telemetry.latest.jsonl", "{}\n");
        }
        mx_log_files_close(files);
        cr_expect_eq(count_descriptors(), before);
    }
}
