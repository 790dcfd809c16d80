/*
 * verdict.h - what is said about a document that was judged.
 */
#ifndef MCPXCTL_VERDICT_H
#define MCPXCTL_VERDICT_H

#include <mcpx/contract.h>

/**
 * A judged document.
 *
 * line       of the input, from 1; 0: the input is one document
 * contract   its name, or "schema"
 * unusable   the schema could not be used: the errors are about the schema
 * code       of a breach
 * report     what was found
 */
struct verdict {
    size_t line;
    const char *contract;
    bool unusable;
    enum mcpx_code code;
    const struct mcpx_schema_report *report;
};

/** True when the document is valid. */
bool verdict_is_valid(const struct verdict *verdict);

/** Appends an object: line, valid, contract, code, path, errors; and a newline. */
void verdict_write_json(struct mcpx_text *out, const struct verdict *verdict);

/** Appends sentences: what it is, and below a line for each error, made visible. */
void verdict_write(struct mcpx_text *out, const struct verdict *verdict);

#endif
