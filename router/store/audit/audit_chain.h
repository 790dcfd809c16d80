/*
 * audit_chain.h - one line of the audit: a JSON object that names its place and the line before;
 * and writing the chain: each line names the SHA-256 of the one before, and checkpoints are signed.
 * audit_verify.h reads it. docs/audit.md, "A line" and "The chain".
 */
#ifndef STORE_AUDIT_CHAIN_H
#define STORE_AUDIT_CHAIN_H

#include <mcpx/base.h>
#include <mcpx/digest.h>
#include <mcpx/error.h>
#include <mcpx/text.h>

/*
 * What is written down: X(constant, name in the line). docs/audit.md says what each means.
 */
#define AUDIT_SORTS(X)                                                                        \
    X(AUDIT_ALLOW, "allow")                                                                   \
    X(AUDIT_REFUSE, "refuse")                                                                 \
    X(AUDIT_JOIN, "join")                                                                     \
    X(AUDIT_LEAVE, "leave")                                                                   \
    X(AUDIT_UPDATE, "update")                                                                 \
    X(AUDIT_TURNED_AWAY, "turned_away")                                                       \
    X(AUDIT_GRANT, "grant")                                                                   \
    X(AUDIT_REVOKE, "revoke")                                                                 \
    X(AUDIT_KICK, "kick")                                                                     \
    X(AUDIT_LIFT, "lift")                                                                     \
    X(AUDIT_RELOAD, "reload")                                                                 \
    X(AUDIT_KEYS, "keys")                                                                     \
    X(AUDIT_UNDELIVERED, "undelivered")                                                       \
    X(AUDIT_LOST, "lost")                                                                     \
    X(AUDIT_CHECKPOINT, "checkpoint")                                                         \
    X(AUDIT_BEGIN, "begin")                                                                   \
    X(AUDIT_START, "start")                                                                   \
    X(AUDIT_STOP, "stop")

#define AUDIT_CONSTANT(constant, name) constant,
enum audit_what { AUDIT_SORTS(AUDIT_CONSTANT) AUDIT_OTHER };
#undef AUDIT_CONSTANT

/**
 * One thing to write down. Slices are borrowed; an absent one, and a number of 0, is not written.
 * Texts of a refusal are what somebody sent: they need not be UTF-8 and may be long.
 *
 * kind_sent       the kind as its sender wrote it
 * kind            the kind as delivered
 * id              of the envelope
 * correlation_id  the id it answers
 * grant           the pattern that covered it
 * error           the error's name on the wire
 * reason          more about it
 * by              AUDIT_GRANT, AUDIT_REVOKE, AUDIT_KICK, AUDIT_LIFT: who asked for it
 * address         of these and AUDIT_TURNED_AWAY: where the request came from
 * rev             policy by which it was decided
 */
struct audit_note {
    enum audit_what what;
    int64_t wall_ms;         /* when */
    struct mcpx_slice topic; /* where */
    struct mcpx_slice from;  /* who did it, or whom it happened to */
    /* `to`, `to_count`: addressees; 0 = everyone, or nobody was named. */
    const struct mcpx_slice *to;
    size_t to_count;
    struct mcpx_slice kind_sent, kind, id, correlation_id, grant, error, reason, by, address,
        rev;
    /* AUDIT_ALLOW: the envelope as delivered; its size and SHA-256 are written, itself only
     * where payloads are. */
    struct mcpx_slice text;
    uint64_t bytes; /* size of a message that has no `text` */
    uint64_t of;    /* AUDIT_UNDELIVERED: `seq` of the line that did not come true */
    uint64_t count; /* AUDIT_LOST: how many lines were not written */
    /* AUDIT_LOST: wall clocks of the first and last of them; `until` of AUDIT_GRANT,
     * AUDIT_REVOKE, AUDIT_KICK: when it ends. */
    int64_t since, until;
    uint64_t cut; /* AUDIT_START: bytes of a torn line that were cut off */
};

/** The longest text that a line shows of what somebody sent; the rest is left out. */
enum { AUDIT_TEXT_MAX = 2048 };

/** The format that this code writes, as "begin" says it. */
enum { AUDIT_FORMAT = 1 };

/** The `prev` of the very first line. */
extern const char audit_prev_none[MCPX_SHA256_LEN + 1];

/** Where a line stands. */
struct audit_head {
    uint64_t seq; /* 1 for the first line ever; no number is left out */
    /* SHA-256 of the line before, its line feed included; MCPX_SHA256_LEN digits, lent. */
    const char *prev;
};

/** Appends the beginning that all lines have: `{"seq":1,"time":"...","what":"...","prev":"..."`. */
void audit_line_begin(struct mcpx_text *out, const struct audit_head *head,
                      enum audit_what what, int64_t wall_ms);

/**
 * Appends a line and its line feed. Texts that are not UTF-8, or longer than AUDIT_TEXT_MAX, are
 * written as far as they can be, with a "…" behind.
 *
 * note       borrowed; not AUDIT_CHECKPOINT, which audit_chain_sign writes
 * payloads   write the envelope itself, too
 *
 * Memory failure shows in `out`.
 */
void audit_line_add(struct mcpx_text *out, const struct audit_head *head,
                    const struct audit_note *note, bool payloads);

/** A line that was read. Slices are lent by the line. */
struct audit_line {
    uint64_t seq;
    int64_t wall_ms;
    struct mcpx_slice time;  /* as it is written */
    struct mcpx_slice prev;  /* 64 digits */
    struct mcpx_slice name;  /* its name, as it is written */
    enum audit_what what;    /* AUDIT_OTHER for a sort that this code does not know */
    struct mcpx_slice whole; /* the object, for mcpx_json_get */
};

/**
 * Reads a line: an object without white space around it that begins as audit_line_begin writes it.
 *
 * text   without line feed; borrowed for as long as `out` is used
 *
 * Returns false when it is none; `out` is then untouched.
 */
bool audit_line_read(struct mcpx_slice text, struct audit_line *out);

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
 */
struct audit_chain {
    uint64_t seq;                   /* of the next line */
    char prev[MCPX_SHA256_LEN + 1]; /* SHA-256 of the last one */
    uint64_t unsigned_count;        /* lines since the last checkpoint */
};

/** A chain without lines. */
void audit_chain_begin(struct audit_chain *chain);

/**
 * Goes on behind a line.
 *
 * text   the last line of a chain, with its line feed
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
 * count    how many; 0 on failure
 *
 * Returns MCPX_OK; MCPX_ESYSTEM, with errno; MCPX_ENOMEM.
 */
enum mcpx_err audit_folder_list(int folder, uint64_t **out, size_t *count);

/** An open folder. One process at a time has it. */
struct audit_folder {
    const char *path; /* for complaints; borrowed */
    int dir, file;    /* descriptors; the file is the newest */
    uint64_t size;    /* bytes of the file that are on the disk */
    uint64_t before;  /* bytes of all files before it */
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
