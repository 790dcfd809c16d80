/*
 * scalar.h - passing over one JSON string, number or literal, strictly. What scan.c is made of.
 */
#ifndef MX_SCALAR_H
#define MX_SCALAR_H

#include "lib/base/plain.h"

/**
 * A text being read. The position itself travels through the functions: each takes the place
 * where something begins and returns the place after it, or NULL with the fault noted here.
 *
 * end         of the text
 * fault_at    where the first fault was noticed, at most `end`
 * reason      a static sentence; see struct mcpx_fault
 * escaped     set (never cleared) by a string that holds a backslash
 */
struct mx_reader {
    const unsigned char *end;
    const unsigned char *fault_at;
    const char *reason;
    bool escaped;
};

/** Notes a fault; returns NULL for the caller to hand on. `reason` is static. */
const unsigned char *mx_reader_refuse(struct mx_reader *reader, const unsigned char *at,
                                      const char *reason);

/** Passes over a string whose opening quote is just before `at`. RFC 8259 section 7. */
const unsigned char *mx_string_skip(struct mx_reader *reader, const unsigned char *at);

/**
 * Passes over the string, number, true, false or null that begins at `at`. Anything else,
 * the end of the text and brackets included, is a fault. RFC 8259 sections 3, 6 and 7.
 */
const unsigned char *mx_scalar_skip(struct mx_reader *reader, const unsigned char *at);

/** mx_space_skip where there is some, or the text ends. */
const unsigned char *mx_space_run(const unsigned char *at, const unsigned char *end);

/** The first byte from `at` on that is not JSON white space, or `end`. */
static inline const unsigned char *mx_space_skip(const unsigned char *at,
                                                 const unsigned char *end)
{
    return (at<end && * at> ' ') ? at : mx_space_run(at, end);
}

/**
 * mx_string_skip, first looking byte by byte: most names and words are short, and a processor
 * that foresees where one ends goes on before it has found out, which no vector lets it do.
 */
static inline const unsigned char *mx_string_pass(struct mx_reader *reader,
                                                  const unsigned char *at)
{
    at = mx_plain_short(at, reader->end);
    return at < reader->end && *at == '"' ? at + 1 : mx_string_skip(reader, at);
}

#endif
