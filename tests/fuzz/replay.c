/*
 * replay.c - runs a fuzz target over every file of the folders (or the files) given as arguments,
 * so that what a fuzzer once found stays found in builds without one.
 * Includes libc only.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Runs one file in a block of exactly its size; returns 1, or -1 when it cannot be read. */
static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data;
    long size = 0;
    size_t got = 0;

    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) {
        perror(path);
        if (file)
            fclose(file);
        return -1;
    }
    rewind(file);
    data = malloc(size ? (size_t)size : 1);
    if (data)
        got = fread(data, 1, (size_t)size, file);
    fclose(file);
    if (data)
        LLVMFuzzerTestOneInput(data, got);
    free(data);
    return data && got == (size_t)size ? 1 : -1;
}

/* Runs everything in a folder that is not hidden; returns how many, or -1. */
static int run_folder(const char *path, DIR *folder)
{
    struct dirent *entry;
    int files = 0;

    while ((entry = readdir(folder))) {
        char name[4096];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (run_file(name) < 0)
            return -1;
        files++;
    }
    return files;
}

int main(int count, char **arguments)
{
    int total = 0;

    for (int i = 1; i < count; i++) {
        DIR *folder = opendir(arguments[i]);
        int files = folder ? run_folder(arguments[i], folder) : run_file(arguments[i]);

        if (folder)
            closedir(folder);
        if (files < 0)
            return EXIT_FAILURE;
        total += files;
    }
    printf("%d inputs\n", total);
    return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
