/*
 * cmd_jwks.c - fetches an issuer's key set for the router, which asks nobody itself. It is read as
 * the router would read it before it replaces the file, so that no answer of the issuer's server,
 * be it an error page, ever takes keys away.
 */
#include "tools/mcpxctl/verbs.h"

#include "lib/core/format.h"
#include "router/policy/public_key.h"
#include "tools/common/download.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char verb[] = "jwks";

enum { TIMEOUT_MS = 30000 };

/* Would the router take it? Prints how many keys it has. */
static int judge(const struct mcpx_text *text)
{
    struct jwt_keys keys = {0};
    struct mcpx_text why = {0};
    size_t passed_over = 0;
    enum mcpx_err err = jwks_read(mcpx_text_view(text), &keys, &passed_over, &why);
    int status = STATUS_OK;

    if (err == MCPX_ENOMEM || why.failed)
        status = complain_of_memory(verb);
    else if (err)
        status =
            fail_with(STATUS_FAILED, verb, "no key set that the router takes: %s", why.text);
    else
        printf("%zu keys, %zu passed over\n", keys.count, passed_over);
    jwt_keys_fini(&keys);
    mcpx_text_fini(&why);
    return status;
}

static bool write_all(int fd, struct mcpx_slice text)
{
    while (text.len > 0) {
        ssize_t done = write(fd, text.text, text.len);

        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            text.text += done;
            text.len -= (size_t)done;
        }
    }
    return true;
}

/* Writes beside the file, then moves it there: whoever reads has the old one or the new one. */
static int replace(const char *path, struct mcpx_slice text)
{
    const mode_t readable = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH; /* public keys */
    struct mcpx_text beside = {0};
    bool good = false;
    int fd, cause;

    mx_format(&beside, "%s.XXXXXX", path);
    if (beside.failed)
        return complain_of_memory(verb);
    fd = mkstemp(beside.text);
    if (fd >= 0) {
        good = write_all(fd, text) && fchmod(fd, readable) == 0 && fsync(fd) == 0;
        cause = errno;
        if (close(fd) != 0)
            good = false;
        else if (!good)
            errno = cause;
        good = good && rename(beside.text, path) == 0;
        cause = errno;
        if (!good)
            unlink(beside.text);
        errno = cause;
    }
    mcpx_text_fini(&beside);
    return good ? STATUS_OK
                : fail_with(STATUS_FAILED, verb, "%s cannot be written: %s", path,
                            strerror(errno));
}

int cmd_jwks(const struct arguments *arguments)
{
    struct download download = {.verb = verb,
                                .url = arguments_value(arguments, "--url"),
                                .ca_file = arguments_value(arguments, "--ca-file"),
                                .loopback_http = arguments_have(arguments, "--insecure-http"),
                                .bytes_max = KEY_FILE_BYTES,
                                .timeout_ms =
                                    arguments_ms(arguments, "--timeout", TIMEOUT_MS)};
    struct mcpx_text text = {0};
    int status;

    if (strcmp(arguments->operands[0], "fetch") != 0)
        return fail_with(STATUS_USAGE, verb, "expected \"fetch\"");
    status = download_do(&download, &text);
    if (status == STATUS_OK)
        status = judge(&text);
    if (status == STATUS_OK)
        status = replace(arguments_value(arguments, "--out"), mcpx_text_view(&text));
    mcpx_text_fini(&text);
    return status;
}
