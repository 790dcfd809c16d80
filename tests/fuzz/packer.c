/*
 * packer.c - makes a pack of many inputs, and files of a pack, which is what libFuzzer reads:
 *
 *     packer pack FILE PATH...       writes the inputs below each PATH to the pack FILE
 *     packer unpack FOLDER PATH...   writes each to a file of its own, named by its number
 *
 * Inputs are sorted, shorter ones first, so that the same inputs give the same pack.
 */
#include "corpus.h"
#include "pack.h"

#include <stdlib.h>
#include <string.h>

struct input {
    uint8_t *data;
    size_t size;
};

struct inputs {
    struct input *list;
    size_t count;
};

static bool keep(void *context, const uint8_t *data, size_t size)
{
    struct inputs *inputs = context;
    struct input *list = realloc(inputs->list, (inputs->count + 1) * sizeof *list);
    uint8_t *copy = malloc(size > 0 ? size : 1);

    if (list)
        inputs->list = list;
    if (!list || !copy) {
        free(copy);
        perror("packer");
        return false;
    }
    if (size > 0)
        memcpy(copy, data, size);
    list[inputs->count++] = (struct input){copy, size};
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct input *a = left;
    const struct input *b = right;

    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return memcmp(a->data, b->data, a->size);
}

static bool write_pack(FILE *file, const struct inputs *inputs)
{
    bool written = pack_write_head(file, inputs->count);

    for (size_t i = 0; written && i < inputs->count; i++)
        written = pack_write(file, inputs->list[i].data, inputs->list[i].size);
    return written;
}

static bool write_single(FILE *file, const struct input *input)
{
    return fwrite(input->data, 1, input->size, file) == input->size;
}

/* Opens, writes the pack, or a single input unless it is NULL, and closes. */
static bool write_file(const char *path, const struct inputs *inputs,
                       const struct input *single)
{
    FILE *file = fopen(path, "wb");
    bool written = file && (single ? write_single(file, single) : write_pack(file, inputs));

    if (file && fclose(file))
        written = false;
    if (!written)
        perror(path);
    return written;
}

static bool unpack(const char *folder, const struct inputs *inputs)
{
    bool written = true;

    for (size_t i = 0; written && i < inputs->count; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%04zu", folder, i + 1);
        written = write_file(path, inputs, &inputs->list[i]);
    }
    return written;
}

static int run(bool packs, int count, char **arguments)
{
    struct inputs inputs = {NULL, 0};
    const struct corpus_taker taker = {keep, &inputs};
    bool done = true;

    for (int i = 1; done && i < count; i++)
        done = corpus_walk(arguments[i], &taker) >= 0;
    if (done && inputs.count == 0)
        fprintf(stderr, "packer: no inputs\n");
    done = done && inputs.count > 0;
    if (done) {
        qsort(inputs.list, inputs.count, sizeof *inputs.list, compare);
        done = packs ? write_file(arguments[0], &inputs, NULL) : unpack(arguments[0], &inputs);
    }
    if (done)
        printf("%zu inputs\n", inputs.count);
    for (size_t i = 0; i < inputs.count; i++)
        free(inputs.list[i].data);
    free(inputs.list);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int count, char **arguments)
{
    bool packs = count > 3 && strcmp(arguments[1], "pack") == 0;

    if (packs || (count > 3 && strcmp(arguments[1], "unpack") == 0))
        return run(packs, count - 2, arguments + 2);
    fprintf(stderr, "usage: packer pack FILE PATH...\n       packer unpack FOLDER PATH...\n");
    return 2;
}
