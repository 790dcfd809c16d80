/*
 * secret.h - hides a token from other processes of the same user, above all from those that this
 * program starts; and checks the certificate that a program shows to its router.
 */
#ifndef TOOLS_SECRET_H
#define TOOLS_SECRET_H

#include <mcpx/client.h>

#include <stddef.h>

/**
 * Takes a variable out of the environment, and its value out of the memory that the kernel shows as
 * /proc/PID/environ. Gives a copy, to be wiped with secret_wipe and freed; NULL when there was no
 * such variable, when it was empty, or when memory ran out. Pointers that getenv returned for this
 * variable point to zeros afterwards.
 */
char *secret_take(const char *variable);

/**
 * Takes every variable MCPX_..._TOKEN and MCPX_..._SECRET out of the environment, as secret_take
 * does, but not `kept`: what this program does not need is not for those that it starts.
 */
void secret_drop_others(const char *kept);

/** Overwrites memory that held a secret. NULL is allowed when `len` is 0. */
void secret_wipe(char *text, size_t len);

/**
 * From now on no other process of the same user may read the memory, environment or descriptors of
 * this one (/proc/PID, ptrace, core files), unless it has CAP_SYS_PTRACE. This also holds for
 * processes that it forks, until they execute another program.
 */
void secret_hide_process(void);

struct stat;

/**
 * Checks cert_file and key_file, which are filled in where they were given, and fills in key_file
 * where the key stands beside the certificate. Warns when others may read it.
 *
 * api   address of the HTTP API
 *
 * Returns STATUS_OK, or STATUS_USAGE, having complained with the file and the reason.
 */
int certificate_check(const char *verb, const char *api, struct mcpx_client_config *client);

/** Warns when a file with a secret is one that others may read. A pipe is not. */
void certificate_warn_of_readers(const char *verb, const char *file, const struct stat *about);

#endif
