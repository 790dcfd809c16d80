/*
 * shown.h - what a tool, prompt or resource of a participant is called. Depends on the pair alone,
 * so the same tool has the same name in every run, whatever else is in the topic.
 */
#ifndef MCPX_BRIDGE_EXPOSE_SHOWN_H
#define MCPX_BRIDGE_EXPOSE_SHOWN_H

#include <mcpx/text.h>

/** The longest name of a tool or prompt, in bytes, that is shown under `prefixed`. */
enum { EXPOSE_NAME_MAX = 64 };

/** A tool, prompt or resource by its owner's name. */
struct expose_thing {
    struct mcpx_slice participant;
    struct mcpx_slice own;
};

/** May a name that begins with its owner's id hold this byte? */
bool expose_shown_may_hold(char byte);

/** May a thing be shown by this name of its own? Not when it looks as if it had an owner ("__") or
 * a mark ("_" and 20 characters of a-z and 2-7): then it could be somebody else's. */
bool expose_shown_may_be_plain(struct mcpx_slice name);

/**
 * Appends `PARTICIPANT__NAME` in [A-Za-z0-9_.-], at most EXPOSE_NAME_MAX bytes. It ends with a mark
 * when `marked` is true, when bytes had to be replaced or cut, when the participant's id would let
 * two pairs meet in one name ("a__b" and "c", "a" and "b__c"), and when it would end like a mark
 * anyway. So no two pairs have the same name without a mark, and no name without a mark is one with
 * a mark. A mark is 100 bits of the SHA-256 of the pair: who looks for another pair with the same
 * one tries 2^100.
 */
void expose_shown_write(struct mcpx_text *out, const struct expose_thing *thing, bool marked);

/**
 * Appends the name that version 0.1.0 gave it. `plain`: names were not changed, unless they ended
 * like a mark then: "_" and eight hexadecimal digits.
 */
void expose_shown_write_former(struct mcpx_text *out, const struct expose_thing *thing,
                               bool plain);

/** True for a URI of the scheme that only wrapping gives. */
bool expose_uri_is_wrapped(struct mcpx_slice uri);

/**
 * Appends `mcpx://PARTICIPANT/` and the URI, everything but unreserved characters
 * percent-encoded; with `template`, expressions in braces stay as they are.
 */
void expose_uri_wrap(struct mcpx_text *out, struct mcpx_slice participant,
                     struct mcpx_slice uri, bool template);

/**
 * Appends the URI that was wrapped for this participant. Returns false and appends nothing when it
 * was wrapped for somebody else, or not at all.
 */
bool expose_uri_unwrap(struct mcpx_text *out, struct mcpx_slice participant,
                       struct mcpx_slice wrapped);

/**
 * Whether the template (RFC 6570) could expand to this URI. An expression stands for any bytes.
 */
bool expose_uri_matches(struct mcpx_slice template, struct mcpx_slice uri);

/** Bytes of a template before its first expression. */
size_t expose_uri_literal(struct mcpx_slice template);

/** Bytes both begin with. */
size_t expose_uri_common(struct mcpx_slice a, struct mcpx_slice b);

#endif
