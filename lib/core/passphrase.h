/*
 * passphrase.h - a service has nobody at its terminal: a key that wants a passphrase is a key that
 * cannot be read. Whoever reads PEM with OpenSSL hands this over, or OpenSSL asks and waits.
 */
#ifndef CORE_PASSPHRASE_H
#define CORE_PASSPHRASE_H

/** A pem_password_cb: there is none. */
static inline int mx_no_passphrase(char *buffer, int size, int writing, void *context)
{
    (void)writing;
    (void)context;
    if (size > 0)
        buffer[0] = '\0';
    return -1;
}

#endif
