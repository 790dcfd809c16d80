/*
 * passphrase.h - a service has nobody at its terminal: a key that wants a passphrase is a key that
 * cannot be read. Whoever reads PEM with OpenSSL hands this over, or OpenSSL asks and waits.
 */
#ifndef CORE_PASSPHRASE_H
#define CORE_PASSPHRASE_H

#include <stdbool.h>

/** What a person is told of such a key. */
#define MX_PASSPHRASE_WANTED                                                                  \
    "it is protected by a passphrase; expected a key without one, in a file that only its "   \
    "user may read"

/**
 * A pem_password_cb: there is none. `context` is a bool that says whether one was wanted, or NULL.
 */
static inline int mx_no_passphrase(char *buffer, int size, int writing, void *context)
{
    (void)writing;
    if (context)
        *(bool *)context = true;
    if (size > 0)
        buffer[0] = '\0';
    return -1;
}

#endif
