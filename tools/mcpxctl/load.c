/*
 * load.c - with the router's own function, from the same file and environment: what is said offline
 * about a configuration is what the router would do, and one with which it would not start is an
 * error here too.
 */
#include "tools/mcpxctl/load.h"

#include "tools/common/command.h"

#include <openssl/rand.h>

#include <stdio.h>
#include <stdlib.h>

extern char **environ;

static void fill_random(void *context, void *bytes, size_t len)
{
    (void)context;
    if (RAND_bytes(bytes, (int)len) != 1)
        abort();
}

int load_config(const char *verb, const char *file, struct config *out)
{
    struct config_sources sources = {.file = file,
                                     .environment = (const char *const *)environ,
                                     .chance = {fill_random, NULL}};
    struct mcpx_text errors = {0};
    enum mcpx_err err = config_load(&sources, &errors, out);

    if (errors.text)
        fwrite(errors.text, 1, errors.len, stderr);
    mcpx_text_fini(&errors);
    if (err)
        complain(verb, "%s", mcpx_strerror(err));
    return !err ? STATUS_OK : err == MCPX_ECONFIG ? STATUS_USAGE : STATUS_FAILED;
}
