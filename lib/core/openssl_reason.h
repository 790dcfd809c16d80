/*
 * openssl_reason.h - why a call of OpenSSL has failed, for those who have to tell a person.
 */
#ifndef CORE_OPENSSL_REASON_H
#define CORE_OPENSSL_REASON_H

#include <openssl/err.h>
#include <string.h>

/**
 * Forgets all errors of this thread, and returns what the first one was, until the next call: what
 * comes behind it says where it was. Errors of the system come without a text of OpenSSL's.
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

#endif
