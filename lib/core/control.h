/*
 * control.h - the characters that no name may hold, because they change how a screen shows it.
 */
#ifndef MX_CONTROL_H
#define MX_CONTROL_H

#include <mcpx/base.h>

/**
 * Finds the first control character of a text, in the sense of protocol section 1: C0, DEL, C1
 * (U+0080 to U+009F), what turns the direction of text (U+061C, U+200E, U+200F, U+202A to U+202E,
 * U+2066 to U+2069), what breaks lines (U+2028, U+2029) and what is not seen and joins nothing
 * (U+200B, U+2060 to U+206F, U+FEFF). The joiners of scripts and emoji (U+200C, U+200D) and
 * variation selectors are none.
 *
 * text   bytes that are no UTF-8 are no control characters
 *
 * Returns its offset; text.len when there is none.
 */
size_t mx_control_find(struct mcpx_slice text);

#endif
