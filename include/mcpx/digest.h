/*
 * digest.h - one form for each JSON value, its SHA-256, and ids: random ones, and ones that are
 * the same whenever the same thing is done again.
 */
#ifndef MCPX_DIGEST_H
#define MCPX_DIGEST_H

#include <mcpx/error.h>
#include <mcpx/text.h>

MCPX_BEGIN_C

/** Hexadecimal digits of a SHA-256. */
#define MCPX_SHA256_LEN 64

/** Hexadecimal digits of an id: a UUID without its hyphens. */
#define MCPX_ID_LEN 32

/** Hexadecimal digits of a span's id, which is the beginning of one made for MCPX_ID_SPAN. */
#define MCPX_SPAN_LEN 16

/**
 * Appends the canonical form of one JSON text, by which equal values have equal bytes: no white
 * space; members in the order of their names, unescaped, by code point; strings escaped only where
 * JSON demands it, shortest, in lower case; numbers as ECMAScript writes them, but with all of
 * their digits.
 *
 * It differs from RFC 8785 in two things. Numbers that no double can hold are not rounded, so that
 * two values that differ never share a form. And names are in the order of their UTF-8 bytes, not
 * of UTF-16: this matters only when one name has a character beyond U+FFFF where another has one
 * from U+E000 on.
 *
 * json    nested at most 512 deep
 * fault   filled when the text is at fault (reason, offset); may be NULL
 *
 * Returns MCPX_OK; MCPX_EINVALID when the text is not JSON, or is ambiguous for this form: a name
 * stands twice in an object, a string has half a surrogate pair, a number has an exponent of more
 * than nine digits; MCPX_EUTF8; MCPX_ENOMEM. On failure `out` keeps its content.
 */
MCPX_API enum mcpx_err mcpx_canonical_add(struct mcpx_text *out, struct mcpx_slice json,
                                          struct mcpx_fault *fault);

/**
 * Writes the SHA-256 of bytes in lower-case hexadecimal digits, and a NUL. Returns MCPX_OK, or
 * MCPX_ENOMEM and leaves `out` untouched.
 */
MCPX_API enum mcpx_err mcpx_digest_bytes(struct mcpx_slice bytes,
                                         char out[MCPX_SHA256_LEN + 1]);

/**
 * Writes the SHA-256 of a JSON text's canonical form. Parameters and errors are those of
 * mcpx_canonical_add; `out` is untouched on failure.
 */
MCPX_API enum mcpx_err mcpx_digest_json(struct mcpx_slice json, char out[MCPX_SHA256_LEN + 1],
                                        struct mcpx_fault *fault);

/** The purpose of an id; a deterministic id also depends on it. */
enum mcpx_id_purpose { MCPX_ID_REQUEST, MCPX_ID_SPAN, MCPX_ID_RUN };

/** Writes a UUID of version 4, made of 16 random bytes, without hyphens, and a NUL. */
MCPX_API void mcpx_id_random(const unsigned char random[16], char out[MCPX_ID_LEN + 1]);

/** Deterministic ids of one process; it remembers how often each was asked for. */
struct mcpx_ids;

/** Gives an empty memory; NULL when there is none. */
MCPX_API struct mcpx_ids *mcpx_ids_new(void);

/** Frees it. */
MCPX_API void mcpx_ids_free(struct mcpx_ids *ids);

/**
 * Writes the next deterministic id of a call, and a NUL: a UUID of version 5, without hyphens, in
 * the namespace 235fd3ef-2f17-599e-b514-ca718a7069ee (that is urn:mcpx:ids). Its name is "req:",
 * "span:" or "run:", the canonical form of {"arguments":ARGUMENTS,"tool":TOOL}, and from the second
 * time on "#2", "#3" ... A new process gives the same ids for the same calls in the same order.
 *
 * tool        UTF-8, unescaped
 * arguments   JSON; absent counts as {}. Without a canonical form they are in the name as they are
 *             written
 *
 * Returns MCPX_OK or MCPX_ENOMEM; `out` is untouched on failure, and the id is not used up. Each
 * different name costs up to 64 bytes until mcpx_ids_free.
 */
MCPX_API enum mcpx_err mcpx_ids_next(struct mcpx_ids *ids, enum mcpx_id_purpose purpose,
                                     struct mcpx_slice tool, struct mcpx_slice arguments,
                                     char out[MCPX_ID_LEN + 1]);

/** The sources of a call's ids. A text that is absent or not an object gives none. */
struct mcpx_id_sources {
    struct mcpx_slice context; /* the call's shared context, well-formed JSON */
    struct mcpx_slice meta;    /* the `_meta` of its params, well-formed JSON */
    /* Id of the call's envelope; absent when the call had none. */
    struct mcpx_slice envelope_id;
};

/**
 * Appends the id of a call: the context's requestId, else the first of request_id, requestId,
 * correlation_id, correlationId in `_meta`, else the envelope's id. Only members count that are
 * strings of more than blanks; blanks around them are left out.
 *
 * Returns false when there is none: the caller must make one. Memory failure shows in `out`.
 */
MCPX_API bool mcpx_request_id_add(struct mcpx_text *out, const struct mcpx_id_sources *from);

/**
 * Appends the id of the trace that a call belongs to: the context's traceId, else the trace id of
 * `_meta`'s traceparent (W3C Trace Context), else the call's own id, `request_id`. Memory failure
 * shows in `out`.
 */
MCPX_API void mcpx_trace_id_add(struct mcpx_text *out, const struct mcpx_id_sources *from,
                                struct mcpx_slice request_id);

MCPX_END_C

#endif
