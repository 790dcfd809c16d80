/*
 * errors_of.h - what a report says, as one text to compare.
 */
#ifndef ERRORS_OF_H
#define ERRORS_OF_H

#include <mcpx/schema.h>

/** "PATH KEYWORD MESSAGE; ..." of all errors. Lent until `out` changes. */
const char *errors_of(const struct mcpx_schema_report *report, struct mcpx_text *out);

#endif
