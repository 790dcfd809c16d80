/*
 * tls_time.h - instants as certificates have them.
 */
#ifndef EDGE_TLS_TIME_H
#define EDGE_TLS_TIME_H

#include <stdint.h>

struct asn1_string_st;

/** An instant of a certificate, in seconds since 1970. */
int64_t tls_time_seconds(const struct asn1_string_st *time);

#endif
