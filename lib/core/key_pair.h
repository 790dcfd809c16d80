/*
 * key_pair.h - a certificate and its key, taken from two files into a context of OpenSSL: the
 * router's that it shows to clients, and a client's that it shows to its router.
 */
#ifndef CORE_KEY_PAIR_H
#define CORE_KEY_PAIR_H

#include "lib/core/openssl_reason.h"
#include "lib/core/passphrase.h"

#include <openssl/ssl.h>
#include <sys/stat.h>

/** What is wrong with a file that is a pipe, whose writer OpenSSL would wait for; else NULL. */
static inline const char *mx_pipe_fault(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISFIFO(status.st_mode)
               ? "it is a pipe; expected a regular file"
               : NULL;
}

/** What is wrong with the two files. MX_PAIR_FOREIGN: the key is not the certificate's. */
enum mx_pair_fault { MX_PAIR_SOUND, MX_PAIR_CERTIFICATE, MX_PAIR_KEY, MX_PAIR_FOREIGN };

/**
 * Takes both. The terminal is never asked for a passphrase, not by `context` afterwards either.
 *
 * why   of MX_PAIR_CERTIFICATE and MX_PAIR_KEY, until OpenSSL's next call
 */
static inline enum mx_pair_fault mx_key_pair_take(SSL_CTX *context, const char *cert_file,
                                                  const char *key_file, const char **why)
{
    bool is_locked = false, taken;

    ERR_clear_error();
    if ((*why = mx_pipe_fault(cert_file)) != NULL)
        return MX_PAIR_CERTIFICATE;
    if ((*why = mx_pipe_fault(key_file)) != NULL)
        return MX_PAIR_KEY;
    SSL_CTX_set_default_passwd_cb(context, mx_no_passphrase);
    if (SSL_CTX_use_certificate_chain_file(context, cert_file) != 1) {
        *why = mx_openssl_reason();
        return MX_PAIR_CERTIFICATE;
    }
    SSL_CTX_set_default_passwd_cb_userdata(context, &is_locked);
    taken = SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) == 1 ||
            ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_X509;
    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    if (!taken) {
        *why = mx_openssl_reason();
        if (is_locked)
            *why = MX_PASSPHRASE_WANTED;
        return MX_PAIR_KEY;
    }
    /* Also keys of another kind than the certificate's, which are taken without a word. */
    taken = SSL_CTX_check_private_key(context) == 1;
    ERR_clear_error();
    return taken ? MX_PAIR_SOUND : MX_PAIR_FOREIGN;
}

#endif
