/*
 * tls_files.h - certificates and keys as files have them, made into what connections are given.
 */
#ifndef EDGE_TLS_FILES_H
#define EDGE_TLS_FILES_H

#include "router/edge/revocation.h"
#include "router/policy/config.h"
#include "router/policy/file_stamp.h"

struct ossl_lib_ctx_st;
struct ssl_ctx_st;

/** How large files may be: lists, of which a million entries take 45 MiB, and others. */
enum { TLS_FILE_COUNT = 5, TLS_LISTS_MAX = 64 << 20, TLS_FILE_MAX = 1 << 20 };

/** One for each file that the settings of TLS name. */
struct tls_stamp {
    struct file_stamp files[TLS_FILE_COUNT];
};

/**
 * What the files say.
 *
 * context   owned; each connection holds on to the one that it began with
 * until_s   when the certificate ends, in seconds since 1970
 * revoked   certificates of clients
 */
struct tls_files {
    struct ssl_ctx_st *context;
    int64_t until_s;
    struct revocation revoked;
};

/** Where the ciphers come from, for tls_files_read; for the thread of the loop alone. */
struct ossl_lib_ctx_st *tls_files_library(const struct tls_settings *settings);

/**
 * Reads the files and checks that they belong together. For any thread, one at a time.
 *
 * errors   one line for each reason that they cannot be used: setting, path, what was found
 * out      to be freed with tls_files_fini; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err tls_files_read(const struct tls_settings *settings,
                             struct ossl_lib_ctx_st *library, struct mcpx_text *errors,
                             struct tls_files *out);

/** Appends a line for each thing about them that is surely not meant. */
void tls_files_warn(const struct tls_settings *settings, const struct tls_files *files,
                    int64_t wall_ms, struct mcpx_text *warnings);

/** Appends a line for --check: the names of the certificate, and when it ends. */
void tls_files_describe(const struct tls_settings *settings, const struct tls_files *files,
                        int64_t wall_ms, struct mcpx_text *out);

/** Frees them, as revocation_fini; connections keep what they have. Zeroed is allowed. */
void tls_files_fini(struct tls_files *files);

/** Which content of all files it was. */
struct tls_stamp tls_files_stamp(const struct tls_settings *settings);

/** True when no file has changed between them. */
bool tls_stamp_equals(const struct tls_stamp *one, const struct tls_stamp *other);

#endif
