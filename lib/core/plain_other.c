/*
 * plain_other.c - for architectures that have no file of their own.
 */
#include "lib/core/plain.h"

const unsigned char *mx_plain_skip(const unsigned char *at, const unsigned char *end)
{
    return mx_plain_portable(at, end);
}

const unsigned char *mx_nested_skip(const unsigned char *at, const unsigned char *end)
{
    return mx_nested_portable(at, end);
}
