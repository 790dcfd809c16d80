/*
 * json_write.h - objects and arrays whose members depend on what there is to say. Whoever appends
 * need not know what stands before: each function here, and mcpx_json_add_member, puts a comma in
 * front when the text has a last byte, white space aside, and that is none of `{ [ : ,`. What has
 * one shape is said shorter by mx_format (format.h).
 *
 * `name` needs no escapes; NULL: the value has no name, because it stands in an array or alone.
 */
#ifndef MX_JSON_WRITE_H
#define MX_JSON_WRITE_H

#include <mcpx/text.h>

/** Begins an object; mx_json_end_object ends it. */
void mx_json_begin_object(struct mcpx_text *out, const char *name);

/** Ends an object. */
void mx_json_end_object(struct mcpx_text *out);

/** Begins an array; mx_json_end_array ends it. */
void mx_json_begin_array(struct mcpx_text *out, const char *name);

/** Ends an array. */
void mx_json_end_array(struct mcpx_text *out);

/** Appends a value that is JSON text already. */
void mx_json_add_raw(struct mcpx_text *out, const char *name, struct mcpx_slice value);

/** Appends a number. */
void mx_json_add_number(struct mcpx_text *out, const char *name, int64_t number);

/** Appends true or false. */
void mx_json_add_bool(struct mcpx_text *out, const char *name, bool value);

/** Appends a string, unless it is absent. */
void mx_json_add_optional(struct mcpx_text *out, const char *name, struct mcpx_slice text);

/** Appends an array of strings. */
void mx_json_add_strings(struct mcpx_text *out, const char *name,
                         const struct mcpx_slice *texts, size_t count);

/** Appends a string without a name; one with a name is mcpx_json_add_member's. */
void mx_json_add_item(struct mcpx_text *out, struct mcpx_slice text);

#endif
