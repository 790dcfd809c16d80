/*
 * fuzz_config.c - any bytes as a configuration file. Either it is taken and complete, or there
 * is at least one line that says why not. docs/configuration.md is what is promised.
 */
#include "router/policy/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(void *context, void *bytes, size_t len)
{
    (void)context;
    memset(bytes, 7, len);
}

static char path[] = "/tmp/mcpx-fuzz-config-XXXXXX";

static void remove_file(void)
{
    unlink(path);
}

static void write_file(const uint8_t *data, size_t size)
{
    static bool made;
    FILE *file;

    if (!made) {
        int fd = mkstemp(path);

        if (fd < 0 || atexit(remove_file) != 0)
            abort();
        close(fd);
        made = true;
    }
    file = fopen(path, "w");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config_sources sources = {.file = path, .chance = {fill, NULL}};
    struct config config = {0};
    struct mcpx_text errors = {0};
    enum mcpx_err err;

    write_file(data, size);
    err = config_load(&sources, &errors, &config);
    if ((err == MCPX_OK) != (errors.len == 0) || (err && err != MCPX_ECONFIG))
        abort();
    if (!err && (!config.tokens || config.listen_count == 0 || config.hub.history_bytes == 0))
        abort();
    if (err && errors.text[errors.len - 1] != '\n')
        abort();
    config_fini(&config);
    mcpx_text_fini(&errors);
    return 0;
}
