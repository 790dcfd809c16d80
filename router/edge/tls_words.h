/*
 * tls_words.h - what OpenSSL says, as text and numbers.
 */
#ifndef EDGE_TLS_WORDS_H
#define EDGE_TLS_WORDS_H

#include <stdint.h>

struct asn1_string_st;

/**
 * Why a call has failed, static or until the next call; forgets all errors there are. The first one
 * counts: what comes behind it says where it was.
 */
const char *tls_words_reason(void);

/** An instant of a certificate, in seconds since 1970. */
int64_t tls_words_seconds(const struct asn1_string_st *time);

#endif
