/* envelope.h - the header members of one message, read without reading its payload. */
#ifndef MCPX_ENVELOPE_H
#define MCPX_ENVELOPE_H

#include <mcpx/kind.h>

MCPX_BEGIN_C

/** The only value of `protocol`. */
#define MCPX_PROTOCOL "mcpx/v0.1"

/** Longest `id`, `correlation_id`, participant id (`from`, members of `to`), in bytes. */
#define MCPX_ID_MAX 256

/** Limit of the addressees of one envelope. */
#define MCPX_TO_MAX 256

/** Limit of the top-level members of an envelope, known and unknown together. */
#define MCPX_MEMBERS_MAX 64

/**
 * One message, read. Slices point into the text given to mcpx_envelope_parse or into the
 * envelope's own scratch, and are valid until the next parse into the same envelope.
 *
 * id ts from correlation_id
 *                  unescaped; absent when the member is
 */
struct mcpx_envelope {
    struct mcpx_slice text; /* the whole message as received */
    struct mcpx_slice id, ts, from, correlation_id;
    struct mcpx_kind kind; /* unescaped and split */
    /* `to`, `to_count`: unescaped addressees; none = everyone. */
    struct mcpx_slice to[MCPX_TO_MAX];
    size_t to_count;
    bool has_to; /* the member is present, even if empty */
    /* The raw bytes of the payload object, braces included; they are not read. */
    struct mcpx_slice payload;
    size_t open_at;               /* offset of the opening brace in `text` */
    size_t kind_at, kind_raw_len; /* extent of the kind's value in `text`, quotes included */
    char *scratch;                /* private: unescaped header strings */
    size_t scratch_size;
};

/** Prepares the caller's memory; allocates nothing. */
MCPX_API void mcpx_envelope_init(struct mcpx_envelope *envelope);

/** Frees the scratch; the envelope may be initialised again. */
MCPX_API void mcpx_envelope_fini(struct mcpx_envelope *envelope);

/**
 * Checks one message in the order of protocol section 1, from UTF-8 to `protocol`, and reads
 * its header members.
 *
 * text        borrowed until the next parse into `envelope`
 * depth_max   deepest nesting accepted, the envelope itself being 1; 0 = no limit
 * envelope    initialised; filled on success. On failure only `id` is meaningful: present when
 *             it could be read unambiguously, absent otherwise
 * fault       filled on failure (reason, field, offset)
 *
 * Returns MCPX_OK; MCPX_EUTF8 when any part of the text is not UTF-8; MCPX_EINVALID for every other
 * fault of the text; MCPX_ENOMEM. Allocates only when a header string is escaped and longer than
 * any before it.
 */
MCPX_API enum mcpx_err mcpx_envelope_parse(struct mcpx_slice text, size_t depth_max,
                                           struct mcpx_envelope *envelope,
                                           struct mcpx_fault *fault);

/**
 * True for a well-formed participant id: 1..MCPX_ID_MAX bytes of UTF-8, no control characters
 * (protocol section 1: C0, DEL, C1, and those that reorder, break or hide text), and not one of the
 * router's own names (`system`, `system:...`, in upper or lower case).
 */
MCPX_API bool mcpx_participant_id_is_valid(struct mcpx_slice id);

/**
 * True for a valid participant id without `~` and digits at its end. Configuration and tokens may
 * give a participant only such a name. The ending marks the id of an instance; only the router
 * makes these. Protocol: section 7.
 */
MCPX_API bool mcpx_identity_is_valid(struct mcpx_slice identity);

/**
 * The identity in an id: `desk` for `desk` itself and for its instance `desk~2`. Borrows from
 * `id`. Protocol: section 7.
 */
MCPX_API struct mcpx_slice mcpx_identity_of(struct mcpx_slice id);

/** True for a well-formed topic name: 1..MCPX_ID_MAX bytes of UTF-8, no control characters. */
MCPX_API bool mcpx_topic_name_is_valid(struct mcpx_slice name);

MCPX_END_C

#endif
