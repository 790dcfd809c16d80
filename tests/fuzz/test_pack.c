/*
 * What breaks for whom: a developer's finding is replayed as other bytes, or a merge cuts a pack in
 * half and CI stays green, so that a fault mended once comes back unnoticed.
 */
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/pack.h"
#include "tests/support/outside.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct heard {
    size_t count, bytes;
    size_t most; /* the taker gives up at this one; 0: never */
};

static bool hear(void *context, const uint8_t *data, size_t size)
{
    struct heard *heard = context;

    (void)data;
    heard->count++;
    heard->bytes += size;
    return heard->count != heard->most;
}

/* A folder with one file, which the caller removes with `scrap`. */
static void furnish(char *folder, char *path, const char *name, const char *text)
{
    cr_assert(mkdtemp(folder));
    sprintf(path, "%s/%s", folder, name);
    file_write_text(path, text);
}

static void scrap(const char *folder, const char *path)
{
    cr_expect_eq(unlink(path), 0);
    cr_expect_eq(rmdir(folder), 0);
}

Test(pack, gives_back_the_bytes_that_were_written)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    struct pack pack;
    uint8_t bytes[256];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    cr_assert(pack_write_head(file, 3));
    cr_assert(pack_write(file, bytes, 0));
    cr_assert(pack_write(file, bytes, sizeof bytes));
    cr_assert(pack_write(file, (const uint8_t *)"\\x41 ", 5));
    fclose(file);

    file = fmemopen(text, len, "rb");
    cr_assert(pack_begin(&pack, file));
    cr_assert(pack_next(&pack));
    cr_expect_eq(pack.size, 0);
    cr_assert(pack_next(&pack));
    cr_expect_eq(pack.size, sizeof bytes);
    cr_expect_arr_eq(pack.data, bytes, sizeof bytes);
    cr_assert(pack_next(&pack));
    cr_expect_eq(pack.size, 5);
    cr_expect_arr_eq(pack.data, "\\x41 ", 5);
    cr_expect_not(pack_next(&pack));
    cr_expect_null(pack.fault);
    pack_end(&pack);
    fclose(file);
    free(text);
}

Test(pack, says_what_is_wrong_and_in_which_line)
{
#define HEAD "not a pack: the first line is not \"mcpx-corpus COUNT\""
#define LINE "the line is not \"SIZE SUM TEXT\""
    static const struct {
        const char *text;
        size_t line;
        const char *fault;
    } rows[] = {
        {"\n", 1, HEAD},
        {"chat\n", 1, HEAD},
        {"mcpx-corpus\n", 1, HEAD},
        {"mcpx-corpus -1\n", 1, HEAD},
        {"mcpx-corpus 1\r\n", 1, HEAD},
        {"mcpx-corpus 1", 1, "the line is cut off: it has no line feed"},
        {"mcpx-corpus 0\n", 1, "the pack has no inputs"},
        {"mcpx-corpus 1\n", 2, "the file ends before its last input"},
        {"mcpx-corpus 2\n1 e40c292c a\n", 3, "the file ends before its last input"},
        {"mcpx-corpus 1\n1 e40c292c a", 2, "the line is cut off: it has no line feed"},
        {"mcpx-corpus 1\n1 e40c292c a\n1 e40c292c a\n", 3,
         "more inputs than the first line says"},
        {"mcpx-corpus 1\n1 e40c292c a\n\n", 3, "more inputs than the first line says"},
        {"mcpx-corpus 1\n<<<<<<< ours\n", 2, LINE},
        {"mcpx-corpus 1\n1 a\n", 2, LINE},
        {"mcpx-corpus 1\n1  a\n", 2, LINE},
        {"mcpx-corpus 1\n2 e40c292c a\n", 2, "the input is shorter than its size says"},
        {"mcpx-corpus 1\n99999999999999999999 e40c292c a\n", 2,
         "the input is shorter than its size says"},
        {"mcpx-corpus 1\n4 e40c292c \\x61\n", 2, "the input is shorter than its size says"},
        {"mcpx-corpus 1\n0 e40c292c a\n", 2, "the input is longer than its size says"},
        {"mcpx-corpus 1\n1 e40c292c b\n", 2,
         "the input does not have the sum that stands before it"},
        {"mcpx-corpus 1\n1 e40c292c \\x6\n", 2, "a byte is neither printable nor \\xNN"},
        {"mcpx-corpus 1\n1 e40c292c \\\n", 2, "a byte is neither printable nor \\xNN"},
        {"mcpx-corpus 1\n1 e40c292c \\x-1\n", 2, "a byte is neither printable nor \\xNN"},
        {"mcpx-corpus 1\n1 e40c292c \t\n", 2, "a byte is neither printable nor \\xNN"},
        {"mcpx-corpus 1\n1 e40c292c a\r\n", 2, "a byte is neither printable nor \\xNN"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        FILE *file = fmemopen((char *)rows[i].text, strlen(rows[i].text), "rb");
        struct pack pack;

        if (pack_begin(&pack, file))
            while (pack_next(&pack))
                ;
        cr_expect_eq(pack.number, rows[i].line, "%s: line %zu", rows[i].text, pack.number);
        cr_expect(pack.fault && strcmp(pack.fault, rows[i].fault) == 0, "%s: %s", rows[i].text,
                  pack.fault ? pack.fault : "nothing");
        pack_end(&pack);
        fclose(file);
    }
}

Test(corpus, is_walked_to_its_end_or_refused)
{
    static const struct {
        const char *name, *text;
        size_t most;
        long inputs;
        size_t bytes;
    } rows[] = {
        {"packed", "mcpx-corpus 2\n1 e40c292c a\n1 e70c2de5 b\n", 0, 2, 2},
        {"packed", "mcpx-corpus 2\n1 e40c292c a\n1 e70c2de5 b\n", 1, -1, 1},
        {"packed", "mcpx-corpus 2\n1 e40c292c a\n1 e70c2de5 c\n", 0, -1, 1},
        {"packed", "", 0, -1, 0},
        {"cut-off", "{\"kind\": \"chat", 0, 1, 14},
        {"empty", "", 0, 1, 0},
        {".hidden", "no input", 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char folder[] = "/tmp/mcpx-corpus-XXXXXX";
        char path[sizeof folder + 16];
        struct heard heard = {.most = rows[i].most};
        const struct corpus_taker taker = {hear, &heard};

        furnish(folder, path, rows[i].name, rows[i].text);
        cr_expect_eq(corpus_walk(folder, &taker), rows[i].inputs, "%s: %s", rows[i].name,
                     rows[i].text);
        cr_expect_eq(heard.bytes, rows[i].bytes, "%s: %s", rows[i].name, rows[i].text);
        scrap(folder, path);
        cr_expect_eq(corpus_walk(path, &taker), -1, "%s is gone", path);
    }
}
