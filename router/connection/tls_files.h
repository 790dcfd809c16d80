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

/* ---- certificates of clients that their authorities have taken back (RFC 5280) ---- */

/** One list. */
struct crl;

/** Revocation lists. Zeroed, there are none, and nothing is revoked. */
struct revocation {
    struct crl *lists; /* `count` of them, owned; NULL = none were read */
    size_t count;
    /* Since when, in seconds since 1970, each of their authorities has a list that has begun. */
    int64_t from_s;
    int64_t until_s; /* when all lists of the first of the authorities have ended; 0 = never */
    int64_t next_s;  /* when the next of them begins */
};

/**
 * Reads whole lists in PEM, one or more for each authority that `context` knows; at most 256 lists
 * with 1,000,000 entries in all. It may take seconds, so a thread does it, one at a time.
 *
 * errors   what is wrong, in one line without its end
 * out      zeroed; for revocation_fini in any case
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err revocation_read(const char *path, const struct ssl_ctx_st *context,
                              struct mcpx_text *errors, struct revocation *out);

/**
 * Handshakes of `context` check clients, and those between them and their authority, by the lists
 * that `revocation` has at that time. It remembers which key has signed each list.
 *
 * revocation   borrowed until the last connection of `context` has ended
 */
void revocation_check(struct revocation *revocation, struct ssl_ctx_st *context);

/**
 * True when one of the certificates is revoked, by the newest list that has begun. `chain` may be
 * NULL, and was verified.
 */
bool revocation_has(struct revocation *revocation, const struct stack_st_X509 *chain,
                    int64_t wall_s);

/** True when a list has begun since this was asked last. */
bool revocation_has_begun(struct revocation *revocation, int64_t wall_s);

/** Frees them, which takes long where they are large. */
void revocation_fini(struct revocation *revocation);

/** An instant of a certificate, in seconds since 1970. */
int64_t tls_time_seconds(const struct asn1_string_st *time);

/* ---- the files ---- */

/** What the files say. */
struct tls_files {
    /* Owned; each connection holds on to the one that it began with. */
    struct ssl_ctx_st *context;
    int64_t until_s;           /* when the certificate ends, in seconds since 1970 */
    struct revocation revoked; /* certificates of clients */
};

/**
 * Reads the files and checks that they belong together. For any thread, one at a time.
 *
 * errors   one line for each reason that they cannot be used: setting, path, what was found
 * out      to be freed with tls_files_fini; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err tls_files_read(const struct tls_settings *settings, struct mcpx_text *errors,
                             struct tls_files *out);

/** Frees them, as revocation_fini; connections keep what they have. Zeroed is allowed. */
void tls_files_fini(struct tls_files *files);

/**
 * Reads the files of TLS for the first time, at once, where an address of the configuration begins
 * with tls://. edge->tls.errand then has a thread read all files when it is asked for, and a second
 * after they have changed. Connections keep what they have; new ones get what the files say then.
 * Files that cannot be used change nothing, and the log says why. edge->keys.errand does likewise.
 *
 * errors   one line for each reason they cannot be used
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err file_watch_open(struct edge *edge, struct mcpx_text *errors);

/** Ends it, after all connections; no thread may be reading any more. */
void file_watch_close(struct edge *edge);

/** Logs that lists have ended, and has those judged again whom one that has begun revokes. */
void tls_watch_lists(struct edge *edge);

/**
 * One file after the other, and those that have changed are read. The loop puts the keys into
 * force; a file that is broken changes none, but is logged and counted.
 */
struct key_watch {
    struct errand errand;
    size_t index;          /* of the next file */
    struct key_file *file; /* that is looked at */
    /* `has_read`, `reading`: what was found. */
    bool has_read;
    struct key_reading reading;
};

#endif
