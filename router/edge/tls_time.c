/*
 * tls_time.c - ASN.1 has two forms of an instant, with two or four digits of the year; OpenSSL
 * reads both, but tells only how far two of them are apart.
 */
#include "router/edge/tls_time.h"

#include <openssl/asn1.h>

int64_t tls_time_seconds(const ASN1_TIME *time)
{
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int days = 0, seconds = 0;

    if (time && epoch)
        (void)ASN1_TIME_diff(&days, &seconds, epoch, time);
    ASN1_TIME_free(epoch);
    return (int64_t)days * 86400 + seconds;
}
