/*
 * changes_text.h - what was changed at run time, for people to read: docs/http-api.md.
 */
#ifndef MCPXCTL_CHANGES_TEXT_H
#define MCPXCTL_CHANGES_TEXT_H

#include <mcpx/text.h>

/** Appends an array of strings and objects as one line behind `title`; nothing when it is empty. */
void list_tell(struct mcpx_text *out, const char *title, struct mcpx_slice list);

/** Appends an array of changes, a line for each: which, of what kind, until when, and by whom. */
void changes_tell(struct mcpx_text *out, const char *indent, struct mcpx_slice list);

#endif
