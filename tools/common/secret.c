/*
 * secret.c - tokens and keys, kept from others.
 *
 * unsetenv(3) is not enough: it only changes a list of pointers, and the kernel still shows the
 * memory that the process was given at its start. So the bytes themselves are overwritten. A
 * program keeps copies of a token in its memory, which the same user could read too. So the process
 * is made not dumpable: then its memory cannot be read. Refused: the program executes itself again
 * and gets the token through a pipe. The first program would show the token for the same time.
 *
 * The files of a certificate are judged before anything is asked of the router: what libcurl says
 * of such a file names neither it nor the reason.
 */
#include "tools/common/secret.h"

#include "lib/edge/ws_certificate.h"
#include "tools/common/command.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

extern char **environ;

void secret_wipe(char *text, size_t len)
{
    volatile char *at = text;

    while (len-- > 0)
        *at++ = '\0';
}

/* The value of an entry of the environment; NULL when the entry is of another variable. */
static char *value_of(char *entry, const char *variable, size_t len)
{
    return strncmp(entry, variable, len) == 0 && entry[len] == '=' ? entry + len + 1 : NULL;
}

char *secret_take(const char *variable)
{
    const char *value = getenv(variable);
    char *taken = value && value[0] ? strdup(value) : NULL;
    size_t len = strlen(variable);

    for (size_t i = 0; environ && environ[i]; i++) {
        char *found = value_of(environ[i], variable, len);

        if (found)
            secret_wipe(found, strlen(found));
    }
    unsetenv(variable);
    return taken;
}

/* len   of the variable's name */
static bool names_a_secret(const char *entry, size_t len)
{
    static const char *const ends[] = {"_TOKEN", "_SECRET"};
    bool is_one = false;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t size = strlen(ends[i]);

        is_one |= len >= size && strncmp(entry + len - size, ends[i], size) == 0;
    }
    return is_one && strncmp(entry, "MCPX_", strlen("MCPX_")) == 0;
}

void secret_drop_others(const char *kept)
{
    size_t count = 0;

    for (size_t i = 0; environ && environ[i]; i++) {
        char *entry = environ[i];
        size_t len = strcspn(entry, "=");

        if (names_a_secret(entry, len) && !value_of(entry, kept, strlen(kept)))
            secret_wipe(entry + len, strlen(entry + len));
        else
            environ[count++] = entry;
    }
    if (environ)
        environ[count] = NULL;
}

void secret_hide_process(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

/* ---- a certificate's files ---- */

void certificate_warn_of_readers(const char *verb, const char *file, const struct stat *about)
{
    if (S_ISREG(about->st_mode) && (about->st_mode & (S_IRGRP | S_IROTH)))
        complain(verb, "warning: others may read %s; chmod 600 would mend that", file);
}

int certificate_check(const char *verb, const char *api, struct mcpx_client_config *client)
{
    const char *field, *why;
    struct stat about;

    if (client->key_file && !client->cert_file)
        return fail_with(STATUS_USAGE, verb, "--key-file wants --cert-file beside it");
    if (!client->cert_file)
        return STATUS_OK;
    if (strncmp(api, "https:", strlen("https:")) != 0)
        return fail_with(STATUS_USAGE, verb,
                         "--cert-file can be shown under TLS only; --url wants wss://");
    if (!client->key_file)
        client->key_file = client->cert_file;
    why = mx_certificate_fault(client->cert_file, client->key_file, &field);
    if (why)
        return fail_with(STATUS_USAGE, verb, "%s: %s",
                         strcmp(field, "key_file") == 0 ? client->key_file : client->cert_file,
                         why);
    if (stat(client->key_file, &about) == 0)
        certificate_warn_of_readers(verb, client->key_file, &about);
    return STATUS_OK;
}
