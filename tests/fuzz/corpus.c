/*
 * corpus.c - walks through folders, packs and files of inputs.
 */
#include "corpus.h"

#include "pack.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long walk_pack(const char *path, FILE *file, const struct corpus_taker *taker)
{
    struct pack pack;
    bool goes_on = pack_begin(&pack, file);
    long inputs = 0;

    while (goes_on && pack_next(&pack)) {
        goes_on = taker->take(taker->context, pack.data, pack.size);
        inputs++;
    }
    if (pack.fault)
        fprintf(stderr, "%s:%zu: %s\n", path, pack.number, pack.fault);
    if (pack.fault || !goes_on)
        inputs = -1;
    pack_end(&pack);
    return inputs;
}

static long walk_single(const char *path, FILE *file, const struct corpus_taker *taker)
{
    uint8_t *data = NULL;
    long size = 0;
    bool whole;
    bool taken = false;

    if (!fseek(file, 0, SEEK_END) && (size = ftell(file)) >= 0 && !fseek(file, 0, SEEK_SET))
        data = malloc(size > 0 ? (size_t)size : 1);
    whole = data && fread(data, 1, (size_t)size, file) == (size_t)size;
    if (whole)
        taken = taker->take(taker->context, data, (size_t)size);
    else
        perror(path);
    free(data);
    return taken ? 1 : -1;
}

static long walk_file(const char *path, const struct corpus_taker *taker)
{
    const char *slash = strrchr(path, '/');
    bool packed = strcmp(slash ? slash + 1 : path, "packed") == 0;
    FILE *file = fopen(path, "rb");
    long inputs;

    if (!file) {
        perror(path);
        return -1;
    }
    inputs = (packed ? walk_pack : walk_single)(path, file, taker);
    fclose(file);
    return inputs;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

long corpus_walk(const char *path, const struct corpus_taker *taker)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_visible, alphasort);
    long inputs = 0;

    if (count < 0)
        return walk_file(path, taker);
    for (int i = 0; i < count; i++) {
        char name[4096];
        long more = -1;

        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (inputs >= 0)
            more = walk_file(name, taker);
        inputs = more < 0 ? -1 : inputs + more;
        free(entries[i]);
    }
    free(entries);
    return inputs;
}
