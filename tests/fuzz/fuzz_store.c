/*
 * fuzz_store.c - a database file of arbitrary bytes is opened, checked and loaded from: that ends,
 * and when the file is not ours, it is as it was. When the first byte is odd, the rest says which
 * bytes of a good database are changed; whatever is handed out of that was written there.
 */
#include "lib/base/scoped.h"
#include "router/store/sqlite/sqlite.h"
#include "router/store/sqlite/sqlite_maintenance.h"
#include "tests/fuzz/fuzz.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES = 40, TEXT_ROOM = 400, GOOD_MAX = 1 << 20 };

static char file[64];
static uint8_t good[GOOD_MAX];
static size_t good_len;

static void write_text(int number, char out[TEXT_ROOM])
{
    (void)snprintf(out, TEXT_ROOM, "{\"n\":%d,\"pad\":\"%0*d\"}", number, 10 + number * 7,
                   number);
}

static void write_file(const uint8_t *bytes, size_t len)
{
    static const char *const behind[] = {"-wal",  "-shm", "-journal",
                                         ".lock", ".v0",  ".v0.new"};
    char path[80];
    FILE *stream = fopen(file, "wb");

    must(stream && fwrite(bytes, 1, len, stream) == len && fclose(stream) == 0);
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        (void)snprintf(path, sizeof path, "%s%s", file, behind[i]);
        (void)unlink(path);
    }
}

/* A database with two topics, which takes turns. */
static void make_good(void)
{
    struct store_config config = {.file = file};
    struct sqlite3 *db;
    mx_scoped_text errors = {0};
    char *insert;
    FILE *stream;

    must(schema_open(&config, &errors, &db) == MCPX_OK);
    must(schema_run(db, "INSERT INTO topic VALUES"
                        " (1, CAST('first' AS BLOB), hex(zeroblob(16)), 1, 20, 0, 0),"
                        " (2, CAST('another' AS BLOB), hex(zeroblob(16)), 1, 20, 0, 0)") == 0);
    for (int i = 0; i < ENTRIES; i++) {
        struct mcpx_slice topic = mcpx_slice_of(i % 2 ? "another" : "first");
        uint64_t serial = 1 + (uint64_t)i / 2;
        char text[TEXT_ROOM];

        write_text(i, text);
        insert =
            sqlite3_mprintf("INSERT INTO entry (topic, serial, wall_ms, sum, text)"
                            " VALUES (%d, %lld, %d, %lld, CAST(%Q AS BLOB))",
                            1 + i % 2, (long long)serial, i,
                            (long long)schema_sum(topic, serial, mcpx_slice_of(text)), text);
        must(insert && schema_run(db, insert) == SQLITE_OK);
        sqlite3_free(insert);
    }
    must(schema_checkpoint(db) && sqlite3_close(db) == SQLITE_OK);
    stream = fopen(file, "rb");
    must(stream != NULL);
    good_len = fread(good, 1, sizeof good, stream);
    must(fclose(stream) == 0 && good_len < sizeof good);
}

static void remove_all(void)
{
    write_file(good, 0);
    (void)unlink(file);
    *strrchr(file, '/') = '\0';
    (void)rmdir(file);
}

static void prepare(void)
{
    static char folder[] = "/tmp/mcpx-fuzz-store-XXXXXX";

    if (file[0] != '\0')
        return;
    must(mkdtemp(folder) != NULL);
    (void)snprintf(file, sizeof file, "%s/store.db", folder);
    make_good();
    (void)atexit(remove_all);
}

static bool was_written(struct mcpx_slice text)
{
    for (int i = 0; i < ENTRIES; i++) {
        char written[TEXT_ROOM];

        write_text(i, written);
        if (mcpx_slice_equal(text, mcpx_slice_of(written)))
            return true;
    }
    return false;
}

static bool take_message(void *context, const struct maintenance_message *message)
{
    must(!*(const bool *)context || was_written(message->text));
    return true;
}

static void take_damage(void *context, const struct maintenance_damage *damage)
{
    (void)context;
    must(damage->what && damage->what[0] != '\0');
}

static void look(bool is_ours)
{
    struct maintenance_reader reader = {take_message, take_damage, &is_ours};
    struct maintenance_sums sums = {0};
    mx_scoped_text errors = {0};
    struct maintenance *maintenance = NULL;
    enum mcpx_err err = maintenance_open(file, false, NULL, &errors, &maintenance);

    if (err == MCPX_OK)
        err = maintenance_check(maintenance, &reader, &sums, &errors);
    if (err == MCPX_OK)
        err = maintenance_walk(maintenance, NULL, &reader, &sums, &errors);
    must(err == MCPX_OK || errors.len > 0);
    maintenance_close(maintenance);
}

static void load(struct loader *loader, const char *topic, bool is_ours)
{
    struct task task = {TASK_OPEN, 1, mcpx_slice_of(topic), NULL};
    struct stored_topic_load *load = stored_topic_load_new(&task);

    must(load != NULL);
    loader_read(loader, load);
    if (load->rejection.err != MCPX_OK)
        must(load->reason[0] != '\0');
    else
        for (size_t i = 0; is_ours && i < load->count; i++)
            must(was_written(load->envelopes[i].text));
    stored_topic_load_free(load);
}

static void open_and_load(bool is_ours)
{
    struct store_config config = {.file = file};
    mx_scoped_text errors = {0};
    struct sqlite3 *db = NULL;
    struct sqlite3 *reader = NULL;
    struct loader loader;

    if (schema_open(&config, &errors, &db) == MCPX_OK &&
        schema_open_reader(&config, &errors, &reader) == MCPX_OK &&
        loader_init(&loader, reader) == SQLITE_OK) {
        load(&loader, "first", is_ours);
        load(&loader, "another", is_ours);
        load(&loader, "third", is_ours);
    }
    statements_free(reader);
    (void)sqlite3_close(reader);
    (void)sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool is_ours = size > 0 && data[0] % 2 == 1;
    struct stat about;

    if (size == 0)
        return 0;
    prepare();
    if (is_ours) {
        static uint8_t changed[GOOD_MAX];

        memcpy(changed, good, good_len);
        for (size_t i = 1; i + 3 < size; i += 4)
            changed[((size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2]) %
                    good_len] ^= data[i + 3];
        write_file(changed, good_len);
    } else {
        write_file(data + 1, size - 1);
    }
    look(is_ours);
    must(stat(file, &about) == 0 && (size_t)about.st_size == (is_ours ? good_len : size - 1));
    open_and_load(is_ours);
    return 0;
}
