/*
 * percent.h - percent-encoding, RFC 3986, section 2.
 */
#ifndef MX_PERCENT_H
#define MX_PERCENT_H

#include <mcpx/text.h>

/** True for what stands in any part of a URI as it is: letters, digits, "-", ".", "_", "~". */
static inline bool mx_percent_is_unreserved(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' ||
           byte == '~';
}

/** The value of a hexadecimal digit; -1 for any other byte. */
static inline int mx_percent_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/**
 * Reads the first byte of a text that is not empty: the one that an escape stands for, or else
 * itself. Returns how many bytes stand for it: 3 for an escape, 1 otherwise.
 */
static inline size_t mx_percent_read(struct mcpx_slice text, char *byte)
{
    int high = text.text[0] == '%' && text.len >= 3 ? mx_percent_digit(text.text[1]) : -1;
    int low = high >= 0 ? mx_percent_digit(text.text[2]) : -1;

    *byte = low >= 0 ? (char)(high * 16 + low) : text.text[0];
    return low >= 0 ? 3 : 1;
}

/** Appends a text with everything but unreserved characters escaped, in capital letters. */
void mx_percent_add(struct mcpx_text *out, struct mcpx_slice text);

#endif
