/*
 * random_json.h - JSON texts and damaged ones, the same for the same seed on every machine.
 */
#ifndef RANDOM_JSON_H
#define RANDOM_JSON_H

#include <stddef.h>
#include <stdint.h>

/**
 * Writes one well-formed JSON text of any type.
 *
 * state   any seed; advanced by every call
 * out     room for `size` bytes, at least 64
 *
 * Returns its length, which is less than `size`; no NUL follows.
 */
size_t random_json(uint64_t *state, char *out, size_t size);

/** Changes, adds, doubles or removes a few bytes in place; returns the new length, <= `size`. */
size_t random_damage(uint64_t *state, char *text, size_t len, size_t size);

/** The next number, 0 .. bound - 1. */
uint32_t random_below(uint64_t *state, uint32_t bound);

#endif
