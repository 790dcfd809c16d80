/*
 * audit_chain.h - lines, chain and files of the audit. A line is a JSON object with its number and
 * the SHA-256 of the line before; checkpoints are signed. audit_verify.h reads the chain.
 * docs/audit.md, "A line" and "The chain".
 */
#ifndef STORE_AUDIT_CHAIN_H
#define STORE_AUDIT_CHAIN_H

#include <mcpx/base.h>
#include <mcpx/digest.h>
#include <mcpx/error.h>
#include <mcpx/text.h>

/* Sorts of lines: X(constant, name in the line). docs/audit.md explains each. */
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

/* Texts of a note, in the order of a line: X(member). A line has its addressees after `from`. */
#define AUDIT_TEXTS(X)                                                                        \
    X(topic)                                                                                  \
    X(from)                                                                                   \
    X(kind_sent)                                                                              \
    X(kind) X(id) X(correlation_id) X(grant) X(error) X(reason) X(by) X(address) X(rev)

/**
 * The contents of a line. Slices are borrowed; absent slices and zero numbers are not written.
 * Texts of a refusal come from its sender: they may be long, and not UTF-8.
 *
 * kind_sent       the kind as its sender wrote it
 * kind            the kind as delivered
 * id              of the envelope
 * correlation_id  the id it answers
 * grant           the pattern that covered it
 * error           the error's name on the wire
 * reason          more about it
 * by              the administrator, for AUDIT_GRANT, AUDIT_REVOKE, AUDIT_KICK, AUDIT_LIFT
 * address         origin of the request, for these and AUDIT_TURNED_AWAY
 * rev             the policy that decided
 */
struct audit_note {
    enum audit_what what;
    int64_t wall_ms;         /* wall clock of the decision */
    struct mcpx_slice topic; /* where */
    struct mcpx_slice from;  /* the sender, or the participant concerned */
    /* `to`, `to_count`: addressees; 0 = everyone, or the sender named none. */
    const struct mcpx_slice *to;
    size_t to_count;
    struct mcpx_slice kind_sent, kind, id, correlation_id, grant, error, reason, by, address,
        rev;
    /* AUDIT_ALLOW: the envelope as delivered. Its size and SHA-256 are written; the text itself
     * only with `payloads`. */
    struct mcpx_slice text;
    uint64_t bytes; /* size of a message that has no `text` */
    uint64_t of;    /* AUDIT_UNDELIVERED: `seq` of the line that allowed it */
    uint64_t count; /* AUDIT_LOST: how many lines were not written */
    /* AUDIT_LOST: wall clocks of the first and last of them. AUDIT_GRANT, AUDIT_REVOKE, AUDIT_KICK:
     * `until` is the end of the grant, denial or ban. */
    int64_t since, until;
    uint64_t cut; /* AUDIT_START: size of a torn line that was cut off */
};

/** Bytes of a sender's text that a line shows; the rest is left out. */
enum { AUDIT_TEXT_MAX = 2048 };

/** The version of the format, written in "begin". */
enum { AUDIT_FORMAT = 1 };

/** The `prev` of the very first line. */
extern const char audit_prev_none[MCPX_SHA256_LEN + 1];

/** The place of a line in the chain. */
struct audit_head {
    uint64_t seq; /* 1 for the first line; without gaps */
    /* SHA-256 of the line before and its line feed; MCPX_SHA256_LEN digits, lent. */
    const char *prev;
};

/** Appends the beginning of all lines: `{"seq":1,"time":"...","what":"...","prev":"..."`. */
void audit_line_begin(struct mcpx_text *out, const struct audit_head *head,
                      enum audit_what what, int64_t wall_ms);

/**
 * Appends a line and its line feed. A text that is longer than AUDIT_TEXT_MAX, or not UTF-8, is cut
 * to its valid start, and "…" follows.
 *
 * note       borrowed; not AUDIT_CHECKPOINT, which audit_chain_sign writes
 * payloads   write the envelope itself, too
 *
 * A memory failure sets `out->failed`.
 */
void audit_line_add(struct mcpx_text *out, const struct audit_head *head,
                    const struct audit_note *note, bool payloads);

/** A line that was read. Slices are lent by its text. */
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
 * Returns false for any other text; `out` is then untouched.
 */
bool audit_line_read(struct mcpx_slice text, struct audit_line *out);

/* An Ed25519 key (RFC 8032). Its private half signs checkpoints, its public half verifies them. */

enum {
    AUDIT_KEY_ID_LEN = 16,    /* digits */
    AUDIT_SIGNATURE_LEN = 88, /* base64 of 64 bytes */
    AUDIT_KEY_FILE_MAX = 4096 /* bytes of a private key's file that are read */
};

struct audit_key;

/** The half that a key's text must hold. */
enum audit_half { AUDIT_PRIVATE, AUDIT_PUBLIC };

/**
 * Reads a key from PEM: "PRIVATE KEY" without a passphrase, or "PUBLIC KEY".
 *
 * out   filled with a key that the caller frees; untouched on failure
 *
 * Returns MCPX_OK; MCPX_EINVALID for any other text, with `fault` (may be NULL); MCPX_ENOMEM.
 */
enum mcpx_err audit_key_read(struct mcpx_slice pem, enum audit_half half,
                             struct mcpx_fault *fault, struct audit_key **out);

/** Frees it. NULL is allowed. */
void audit_key_free(struct audit_key *key);

/**
 * The key's id: the first 8 bytes of the SHA-256 of its 32-byte public half, as hexadecimal digits.
 * Lent for as long as the key lives.
 */
const char *audit_key_id(const struct audit_key *key);

/** Writes the signature of `text` and a NUL; false when libcrypto runs out of memory. */
bool audit_key_sign(const struct audit_key *key, struct mcpx_slice text,
                    char out[AUDIT_SIGNATURE_LEN + 1]);

/** True when `signature` is base64 of a signature of `text` by this key. */
bool audit_key_verify(const struct audit_key *key, struct mcpx_slice text,
                      struct mcpx_slice signature);

/** The state of the chain. A plain value: after a failed write, an earlier copy takes its place. */
struct audit_chain {
    uint64_t seq;                   /* of the next line */
    char prev[MCPX_SHA256_LEN + 1]; /* SHA-256 of the last one */
    uint64_t unsigned_count;        /* lines since the last checkpoint */
};

/** A chain without lines. */
void audit_chain_begin(struct audit_chain *chain);

/**
 * Continues the chain after a line.
 *
 * text   the last line of a chain, with its line feed
 *
 * Returns MCPX_OK; MCPX_EINVALID when it is not a line; MCPX_ENOMEM: the chain is then untouched.
 */
enum mcpx_err audit_chain_continue(struct audit_chain *chain, struct mcpx_slice text);

/**
 * Appends a line to `out` and to the chain.
 *
 * note, payloads   as for audit_line_add
 *
 * Returns its `seq`. 0 = memory ran out: `out` has failed, and the chain is unchanged.
 */
uint64_t audit_chain_add(struct audit_chain *chain, const struct audit_note *note,
                         bool payloads, struct mcpx_text *out);

/** Appends a checkpoint. Returns as audit_chain_add does. */
uint64_t audit_chain_sign(struct audit_chain *chain, const struct audit_key *key,
                          int64_t wall_ms, struct mcpx_text *out);

/**
 * Appends the text that a checkpoint's signature covers: "mcpx-audit-checkpoint\n", `seq`, `time`
 * and `prev`, each with a line feed behind.
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
 * Lists a folder's files by the seq in their names, ascending. Other files are ignored.
 *
 * folder   a descriptor
 * out      filled with an array that the caller frees; NULL when there are none
 * count    how many; 0 on failure
 *
 * Returns MCPX_OK; MCPX_ESYSTEM, with errno; MCPX_ENOMEM.
 */
enum mcpx_err audit_folder_list(int folder, uint64_t **out, size_t *count);

/** An open folder. One process at a time may have it. */
struct audit_folder {
    const char *path; /* for error lines; borrowed */
    int dir, file;    /* descriptors; the file is the newest */
    uint64_t size;    /* bytes of the file that are on the disk */
    uint64_t before;  /* bytes of all files before it */
};

/**
 * Opens and locks a folder, made if missing, and continues its chain after its last line. A torn
 * end of the newest file is cut off.
 *
 * path     borrowed for as long as the folder is used
 * errors   on failure a line is appended
 * chain    filled with the state of the chain
 * cut      filled with the bytes cut off
 *
 * Returns MCPX_OK; with a line MCPX_ECONFIG (it is in use, or its chain cannot be continued) or
 * MCPX_ESYSTEM; MCPX_ENOMEM. Call audit_folder_close in any case.
 */
enum mcpx_err audit_folder_open(const char *path, struct mcpx_text *errors,
                                struct audit_folder *out, struct audit_chain *chain,
                                uint64_t *cut);

/** How a write ended. */
enum audit_written {
    AUDIT_WRITTEN, /* it is on the disk */
    AUDIT_NO_ROOM, /* nothing of it is in the file; a retry may succeed */
    AUDIT_BROKEN   /* the state of the disk is unknown */
};

/** Appends to the newest file and syncs it. On failure errno has the reason. */
enum audit_written audit_folder_write(struct audit_folder *folder, struct mcpx_slice text);

/** Begins a file; `seq` is that of its first line. False, with errno: the old one stays in use. */
bool audit_folder_rotate(struct audit_folder *folder, uint64_t seq);

/** Closes files and lock. */
void audit_folder_close(struct audit_folder *folder);

#endif
