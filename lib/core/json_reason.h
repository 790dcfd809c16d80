/*
 * json_reason.h - why a text is not JSON, in words that may be shown.
 */
#ifndef MX_JSON_REASON_H
#define MX_JSON_REASON_H

#include <mcpx/base.h>

#include <string.h>

/**
 * What jansson says of a fault, without the text around it, which jansson quotes and which may be a
 * secret.
 *
 * text   of a json_error_t, lent
 */
static inline struct mcpx_slice mx_json_reason(const char *text)
{
    const char *quote = strstr(text, " near ");

    return (struct mcpx_slice){text, quote ? (size_t)(quote - text) : strlen(text)};
}

#endif
