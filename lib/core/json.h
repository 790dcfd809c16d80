/*
 * json.h - writing JSON text by hand where no value tree is wanted.
 * Includes strbuf.h only.
 */
#ifndef MX_JSON_H
#define MX_JSON_H

#include "lib/core/strbuf.h"

/**
 * Appends `text` as a JSON string, quotes included. `text` is UTF-8; quotes, backslashes, C0
 * controls and DEL are escaped, everything else stands as it is.
 */
void mx_json_string(struct mx_strbuf *buf, struct mcpx_slice text);

/** Appends `"name":` followed by `text` as a JSON string. `name` needs no escapes. */
void mx_json_member(struct mx_strbuf *buf, const char *name, struct mcpx_slice text);

#endif
