/*
 * json.h - writing JSON text by hand where no value tree is wanted.
 * Includes text.h only.
 */
#ifndef MCPX_JSON_H
#define MCPX_JSON_H

#include <mcpx/text.h>

/**
 * Appends `text` as a JSON string, quotes included. `text` is UTF-8; quotes, backslashes, C0
 * controls and DEL are escaped, everything else stands as it is.
 */
MCPX_API void mcpx_json_add_string(struct mcpx_text *buf, struct mcpx_slice text);

/** Appends `"name":` followed by `text` as a JSON string. `name` needs no escapes. */
MCPX_API void mcpx_json_add_member(struct mcpx_text *buf, const char *name,
                                   struct mcpx_slice text);

#endif
