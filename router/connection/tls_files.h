/*
 * tls_files.h - TLS contexts made from files with certificates and keys, and kept up to date;
 * likewise the public keys that tokens are verified with.
 */
#ifndef EDGE_TLS_FILES_H
#define EDGE_TLS_FILES_H

#include "router/connection/errand.h"
#include "router/policy/config/config.h"
#include "router/policy/identity/jwt.h"

struct edge;
struct ssl_ctx_st;
struct stack_st_X509;
struct asn1_string_st;

/* ---- revoked certificates of clients (RFC 5280) ---- */

/** One CRL. */
struct crl;

/** The CRLs of a file. Zeroed, there are none, and nothing is revoked. */
struct revocation {
    struct crl *lists; /* `count` of them, owned; NULL = none were read */
    size_t count;
    /* From when each CA has a CRL in effect, in seconds since 1970. */
    int64_t from_s;
    int64_t until_s; /* when some CA first has no unexpired CRL; 0 = never */
    int64_t next_s;  /* when the next of them takes effect */
};

/**
 * Reads complete CRLs in PEM, one or more for each CA of `context`; at most 256 CRLs with 1,000,000
 * entries in all. It may take seconds, so a thread does it, one at a time.
 *
 * errors   the cause, one line without its end
 * out      zeroed; for revocation_fini in any case
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err revocation_read(const char *path, const struct ssl_ctx_st *context,
                              struct mcpx_text *errors, struct revocation *out);

/**
 * Makes handshakes of `context` check each certificate of a client's chain against `revocation`,
 * which remembers the signer of each CRL.
 *
 * revocation   borrowed until the last connection of `context` has ended
 */
void revocation_check(struct revocation *revocation, struct ssl_ctx_st *context);

/**
 * True when one of the certificates is revoked by the newest CRL in effect. `chain` is verified
 * already, or NULL.
 */
bool revocation_has(struct revocation *revocation, const struct stack_st_X509 *chain,
                    int64_t wall_s);

/** True when a CRL has taken effect since the last call. */
bool revocation_has_begun(struct revocation *revocation, int64_t wall_s);

/** Frees the CRLs; that takes long when they are large. */
void revocation_fini(struct revocation *revocation);

/** Returns a time of a certificate, in seconds since 1970. */
int64_t tls_time_seconds(const struct asn1_string_st *time);

/* ---- the files ---- */

/** The contents of the files. */
struct tls_files {
    /* Owned; each connection keeps the one it began with. */
    struct ssl_ctx_st *context;
    int64_t until_s;           /* when the certificate ends, in seconds since 1970 */
    struct revocation revoked; /* certificates of clients */
};

/**
 * Reads the files and checks that they belong together. For any thread, one at a time.
 *
 * errors   one line for each error: setting, path, cause
 * out      to be freed with tls_files_fini; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err tls_files_read(const struct tls_settings *settings, struct mcpx_text *errors,
                             struct tls_files *out);

/** Frees the contents, as revocation_fini; connections keep theirs. Zeroed is allowed. */
void tls_files_fini(struct tls_files *files);

/**
 * Reads the TLS files at once, if an address of the configuration begins with tls://. After that,
 * the thread of edge->tls.errand reads all files on request, and a second after a change.
 * Connections keep their contents; new ones get the new contents. Unusable files change nothing,
 * and the log has the reason. edge->keys.errand does likewise.
 *
 * errors   one line for each error
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err file_watch_open(struct edge *edge, struct mcpx_text *errors);

/** Ends it, after all connections and after its errands. */
void file_watch_close(struct edge *edge);

/** Logs the expiry of CRLs. After a CRL has taken effect, all connections are checked again. */
void tls_watch_lists(struct edge *edge);

/**
 * The thread examines one file after the other and reads the changed ones. The loop makes their
 * keys active; a broken file changes no keys, but is logged and counted.
 */
struct key_watch {
    struct errand errand;
    size_t index;          /* of the next file */
    struct key_file *file; /* being examined */
    /* `has_read`, `reading`: the result of the thread. */
    bool has_read;
    struct key_reading reading;
};

#endif
