/*
 * gcm.h - AES-GCM for TLS, by libipsec-mb, where the processor has the instructions for it. OpenSSL
 * 3.0 does not know them and takes four times as long.
 */
#ifndef EDGE_GCM_H
#define EDGE_GCM_H

struct ossl_lib_ctx_st;

/** To be given with the library to whatever looks for a cipher; what is not ours is OpenSSL's. */
#define GCM_PREFERENCE "?provider=mcpx"

/**
 * A library context that has these ciphers besides all of OpenSSL's. Nothing else in the process
 * sees them. Made by the first call, and kept until the process ends; for one thread.
 *
 * Returns NULL, which is OpenSSL's own context, when the processor does not have the instructions,
 * the build has no libipsec-mb, the system's configuration asks for FIPS, or memory has run out.
 */
struct ossl_lib_ctx_st *gcm_library(void);

#endif
