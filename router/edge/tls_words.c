/*
 * tls_words.c - errors of the system come through OpenSSL without a text of their own.
 */
#include "router/edge/tls_words.h"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <string.h>

const char *tls_words_reason(void)
{
    unsigned long code = ERR_peek_error();
    const char *text = ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code))
                                              : ERR_reason_error_string(code);

    ERR_clear_error();
    return text ? text : "cannot be used";
}

int64_t tls_words_seconds(const ASN1_TIME *time)
{
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int days = 0, seconds = 0;

    if (time && epoch)
        (void)ASN1_TIME_diff(&days, &seconds, epoch, time);
    ASN1_TIME_free(epoch);
    return (int64_t)days * 86400 + seconds;
}
