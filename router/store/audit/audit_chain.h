/*
 * audit_chain.h - writing the chain: each line names the SHA-256 of the one before, and checkpoints
 * are signed. audit_verify.h reads it. docs/audit.md, "The chain".
 */
#ifndef STORE_AUDIT_CHAIN_H
#define STORE_AUDIT_CHAIN_H

#include "router/store/audit/audit_line.h"

#include <mcpx/error.h>
#include <mcpx/text.h>

/*
 * An Ed25519 key (RFC 8032): its private half signs checkpoints, its public half checks them.
 */

enum {
    AUDIT_KEY_ID_LEN = 16,    /* digits */
    AUDIT_SIGNATURE_LEN = 88, /* base64 of 64 bytes */
    AUDIT_KEY_FILE_MAX = 4096 /* bytes of a private key's file that are read */
};

struct audit_key;

/** Which half of a key a text has to hold. */
enum audit_half { AUDIT_PRIVATE, AUDIT_PUBLIC };

/**
 * Reads a key from PEM: "PRIVATE KEY" without a passphrase, or "PUBLIC KEY".
 *
 * out   filled with a key that the caller frees; untouched on failure
 *
 * Returns MCPX_OK; MCPX_EINVALID with `fault` (may be NULL) when it is no such key; MCPX_ENOMEM.
 */
enum mcpx_err audit_key_read(struct mcpx_slice pem, enum audit_half half,
                             struct mcpx_fault *fault, struct audit_key **out);

/** Frees it. NULL is allowed. */
void audit_key_free(struct audit_key *key);

/**
 * What names the key: the first 8 bytes of the SHA-256 of the 32 bytes of its public half, as
 * digits. Lent for as long as the key lives.
 */
const char *audit_key_id(const struct audit_key *key);

/** Writes the signature of `text` and a NUL; false when libcrypto fails, which is for memory. */
bool audit_key_sign(const struct audit_key *key, struct mcpx_slice text,
                    char out[AUDIT_SIGNATURE_LEN + 1]);

/** True when `signature` is base64 of a signature of `text` by this key. */
bool audit_key_verify(const struct audit_key *key, struct mcpx_slice text,
                      struct mcpx_slice signature);

/**
 * Where the chain stands. A plain value: a copy made before writing is the way back when what was
 * written could not be kept.
 *
 * seq      of the next line
 * prev     SHA-256 of the last one
 * unsigned_count   lines since the last checkpoint
 */
struct audit_chain {
    uint64_t seq;
    char prev[MCPX_SHA256_LEN + 1];
    uint64_t unsigned_count;
};

/** A chain without lines. */
void audit_chain_begin(struct audit_chain *chain);

/**
 * Goes on behind a line.
 *
 * text   the last line of a chain, without its line feed
 *
 * Returns MCPX_OK; MCPX_EINVALID when it is no line; MCPX_ENOMEM: the chain is then untouched.
 */
enum mcpx_err audit_chain_continue(struct audit_chain *chain, struct mcpx_slice text);

/**
 * Appends a line to `out` and to the chain.
 *
 * note, payloads   as audit_line_add has them
 *
 * Returns its `seq`, or 0 when memory ran out: then `out` has failed and the chain is as it was.
 */
uint64_t audit_chain_add(struct audit_chain *chain, const struct audit_note *note,
                         bool payloads, struct mcpx_text *out);

/** Appends a checkpoint. Returns as audit_chain_add does. */
uint64_t audit_chain_sign(struct audit_chain *chain, const struct audit_key *key,
                          int64_t wall_ms, struct mcpx_text *out);

/**
 * Appends what a checkpoint's signature is of:
 * "mcpx-audit-checkpoint\n", `seq`, `time` and `prev`, each with a line feed behind.
 */
void audit_chain_signed_text(struct mcpx_text *out, const struct audit_head *head,
                             struct mcpx_slice time);

/** Appends a checkpoint with a given signature, and its line feed. */
void audit_chain_checkpoint(struct mcpx_text *out, const struct audit_head *head,
                            int64_t wall_ms, struct mcpx_slice key_id,
                            struct mcpx_slice signature);

/* ---- the files of an audit: audit-N.jsonl, where N is the seq of the first line. ---- */

/** Longest name of a file, with its NUL. */
enum { AUDIT_NAME_ROOM = 40 };

/** Writes the name of the file whose first line has this seq. */
void audit_file_name(uint64_t seq, char out[AUDIT_NAME_ROOM]);

/**
 * Lists a folder's files by the seq in their names, ascending. Other files are passed over.
 *
 * folder   a descriptor
 * out      filled with an array that the caller frees; NULL when there are none
 *
 * Returns MCPX_OK; MCPX_ESYSTEM, with errno; MCPX_ENOMEM.
 */
enum mcpx_err audit_folder_list(int folder, uint64_t **out, size_t *count);

/**
 * An open folder. One process at a time has it.
 *
 * path       for complaints; borrowed
 * dir, file  descriptors; the file is the newest
 * size       bytes of the file that are on the disk
 * before     bytes of all files before it
 */
struct audit_folder {
    const char *path;
    int dir, file;
    uint64_t size, before;
};

/**
 * Opens a folder, which is made when it is missing, locks it, and goes on behind its last line. A
 * torn end of the newest file is cut off.
 *
 * path     borrowed for as long as the folder is used
 * errors   on failure a line is appended
 * chain    filled with where the chain stands
 * cut      filled with the bytes cut off
 *
 * Returns MCPX_OK; MCPX_ECONFIG when it is in use or no audit that can go on, MCPX_ESYSTEM; each
 * with a line; MCPX_ENOMEM. audit_folder_close is due in any case.
 */
enum mcpx_err audit_folder_open(const char *path, struct mcpx_text *errors,
                                struct audit_folder *out, struct audit_chain *chain,
                                uint64_t *cut);

/** How a write ended. */
enum audit_written {
    AUDIT_WRITTEN, /* it is on the disk */
    AUDIT_NO_ROOM, /* nothing of it is in the file; another time it may be */
    AUDIT_BROKEN   /* nobody knows what is on the disk */
};

/** Appends to the newest file and waits until the disk has it. errno says why not. */
enum audit_written audit_folder_write(struct audit_folder *folder, struct mcpx_slice text);

/** Begins a file whose first line will have this seq. False, with errno: the old one goes on. */
bool audit_folder_rotate(struct audit_folder *folder, uint64_t seq);

/** Closes files and lock. */
void audit_folder_close(struct audit_folder *folder);

#endif
