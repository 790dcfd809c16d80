/*
 * certificate.c - the files are judged before anything is asked of the router: what libcurl says of
 * such a file names neither it nor the reason.
 */
#include "tools/common/certificate.h"

#include "lib/edge/ws_certificate.h"
#include "tools/common/command.h"

#include <string.h>
#include <sys/stat.h>

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
