/*
 * pem.h - keys and certificates from PEM files, by OpenSSL. It puts a certificate and its key into
 * a context of the router or a client, and has sentences for people about unreadable files. A
 * service has no user at a terminal: a key with a passphrase cannot be read. Every caller that
 * reads PEM passes mx_no_passphrase, or OpenSSL asks and waits.
 */
#ifndef MX_PEM_H
#define MX_PEM_H

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/**
 * Forgets all errors of this thread, and returns the text of the first until the next call: later
 * errors only tell the place. System errors have no text of OpenSSL's.
 */
static inline const char *mx_openssl_reason(void)
{
    unsigned long code = ERR_peek_error();
    const char *text = ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code))
                                              : ERR_reason_error_string(code);

    if (ERR_GET_LIB(code) == ERR_LIB_OSSL_DECODER)
        text = "no key in PEM form was found"; /* it says "unsupported" */
    ERR_clear_error();
    return text ? text : "cannot be used";
}

/** The error of a key with a passphrase. */
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

/** Returns the error of a pipe as a file, or NULL: OpenSSL would wait for its writer. */
static inline const char *mx_pipe_fault(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISFIFO(status.st_mode)
               ? "it is a pipe; expected a regular file"
               : NULL;
}

/** Errors of the two files. MX_PAIR_FOREIGN: the key belongs to another certificate. */
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

/* ---- a client under TLS, and the certificate that it shows (ws_certificate.c) ---- */

/**
 * Makes the context of a client's connections: TLS 1.2 and 1.3, trusted servers only.
 *
 * ca_file   PEM with the trusted CAs; NULL = the system's
 *
 * Returns NULL when the file cannot be used or memory runs out.
 */
SSL_CTX *mx_client_context(const char *ca_file);

/**
 * Can these files be shown?
 *
 * cert_file, key_file   as mcpx_client_config has them
 * field                 the name of the file that is at fault, "cert_file" or "key_file"
 *
 * Returns NULL when they can, else the reason, until the next call.
 */
const char *mx_certificate_fault(const char *cert_file, const char *key_file,
                                 const char **field);

/** Later connections of `context` show the present contents of the files, if they are usable. */
void mx_certificate_use(SSL_CTX *context, const char *cert_file, const char *key_file);

/**
 * Can these files be shown, and is their certificate another one than connections with `context`
 * have shown? Returns as mx_certificate_fault; `field` is "cert_file" as well when both are so.
 */
const char *mx_certificate_renewal_fault(SSL_CTX *context, const char *cert_file,
                                         const char *key_file, const char **field);

#endif
