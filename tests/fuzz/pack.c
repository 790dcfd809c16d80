/*
 * pack.c - reads and writes packs of inputs, line by line.
 * Inputs are text for the most part, so a pack is text: archives of bytes were refused, because a
 * difference between two of them tells nothing. The sum finds what a careless editor, a merge or a
 * conversion of line ends does to a line without changing its length.
 */
#include "pack.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char MARK[] = "mcpx-corpus ";

static uint32_t sum_of(const uint8_t *data, size_t size)
{
    uint32_t sum = 2166136261U;

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ data[i]) * 16777619U;
    return sum;
}

static bool fails(struct pack *pack, const char *fault)
{
    pack->fault = fault;
    return false;
}

/* Reads a line and cuts its line feed off. False at the end of the file, and with a fault. */
static bool read_line(struct pack *pack)
{
    ssize_t len = getline(&pack->line, &pack->room, pack->file);

    pack->number++;
    if (len < 0)
        return false;
    if (pack->line[len - 1] != '\n')
        return fails(pack, "the line is cut off: it has no line feed");
    pack->line[len - 1] = '\0';
    return strlen(pack->line) + 1 == (size_t)len || fails(pack, "a zero byte in a text file");
}

/* Digits and then `end`: moves `at` behind it. */
static bool read_number(const char **at, int base, char end, size_t *number)
{
    char *behind;

    if (!isxdigit((unsigned char)**at))
        return false;
    *number = strtoul(*at, &behind, base);
    if (*behind != end)
        return false;
    *at = behind + (end != '\0');
    return true;
}

bool pack_begin(struct pack *pack, FILE *file)
{
    const char *at;

    *pack = (struct pack){.file = file};
    if (!read_line(pack))
        return pack->fault ? false : fails(pack, "the file is empty");
    at = pack->line;
    if (strncmp(at, MARK, sizeof MARK - 1) == 0)
        at += sizeof MARK - 1;
    if (at == pack->line || !read_number(&at, 10, '\0', &pack->left))
        return fails(pack, "not a pack: the first line is not \"mcpx-corpus COUNT\"");
    return pack->left > 0 || fails(pack, "the pack has no inputs");
}

/* The byte that `at` begins with, which moves behind it; -1 when there is none. */
static int read_byte(const char **at)
{
    const char *text = *at;
    char digits[3] = {0};

    if (*text != '\\') {
        ++*at;
        return *text >= ' ' && *text <= '~' ? *text : -1;
    }
    if (text[1] != 'x' || !isxdigit((unsigned char)text[2]) ||
        !isxdigit((unsigned char)text[3]))
        return -1;
    memcpy(digits, text + 2, 2);
    *at += 4;
    return (int)strtol(digits, NULL, 16);
}

/* Makes `data` and `size` of the text; at most `most` bytes. */
static bool read_text(struct pack *pack, const char *at, size_t most)
{
    free(pack->data);
    pack->size = 0;
    pack->data = malloc(most > 0 ? most : 1);
    if (!pack->data)
        return fails(pack, "no memory");
    while (*at != '\0') {
        int byte = read_byte(&at);

        if (byte < 0)
            return fails(pack, "a byte is neither printable nor \\xNN");
        if (pack->size == most)
            return fails(pack, "the input is longer than its size says");
        pack->data[pack->size++] = (uint8_t)byte;
    }
    return pack->size == most || fails(pack, "the input is shorter than its size says");
}

bool pack_next(struct pack *pack)
{
    const char *at;
    size_t size = 0;
    size_t sum = 0;

    if (!read_line(pack)) {
        if (pack->left > 0 && !pack->fault)
            fails(pack, "the file ends before its last input");
        return false;
    }
    if (pack->left == 0)
        return fails(pack, "more inputs than the first line says");
    at = pack->line;
    if (!read_number(&at, 10, ' ', &size) || !read_number(&at, 16, ' ', &sum))
        return fails(pack, "the line is not \"SIZE SUM TEXT\"");
    if (size > strlen(at))
        return fails(pack, "the input is shorter than its size says");
    if (!read_text(pack, at, size))
        return false;
    if (sum_of(pack->data, size) != sum)
        return fails(pack, "the input does not have the sum that stands before it");
    pack->left--;
    return true;
}

void pack_end(struct pack *pack)
{
    free(pack->line);
    free(pack->data);
}

bool pack_write_head(FILE *file, size_t count)
{
    return fprintf(file, "%s%zu\n", MARK, count) > 0;
}

bool pack_write(FILE *file, const uint8_t *data, size_t size)
{
    fprintf(file, "%zu %08" PRIx32 " ", size, sum_of(data, size));
    for (size_t i = 0; i < size; i++)
        fprintf(file, data[i] >= ' ' && data[i] <= '~' && data[i] != '\\' ? "%c" : "\\x%02x",
                data[i]);
    return fputc('\n', file) != EOF && !ferror(file);
}
