/*
 * gcm_seal.h - records of TLS, sealed from where the bytes are to where they leave. OpenSSL would
 * copy them twice, and spend as much on a record as on the encryption of some kilobytes. For one
 * thread.
 */
#ifndef EDGE_GCM_SEAL_H
#define EDGE_GCM_SEAL_H

#include <mcpx/text.h>

/** What seals for one connection, with the key in force. Made, and freed, by OpenSSL. */
struct gcm;

/**
 * From now on OpenSSL works for another connection. To be called before each call of OpenSSL that
 * may make or change a key: one to shake hands, read or write.
 *
 * place   NULL for no connection; kept, as long as OpenSSL has something that seals for this
 *         connection: is set to the latest that it has made, and to NULL when that is gone;
 *         untouched when what seals is not of this library (gcm.h)
 */
void gcm_work_for(struct gcm **place);

/**
 * Appends bytes to `out`, as records of TLS 1.2 or 1.3 with data of the application. What OpenSSL
 * seals afterwards has the numbers behind theirs.
 *
 * gcm   NULL, or of a connection whose handshake is done, that has not failed nor said its end,
 *       and for which OpenSSL has nothing to send first
 *
 * Returns false, and has sealed nothing, when OpenSSL has to do it: for NULL, for the first record
 * with a key, and when memory has run out (then `out` has failed).
 */
bool gcm_seal(struct gcm *gcm, struct mcpx_slice bytes, struct mcpx_text *out);

#endif
