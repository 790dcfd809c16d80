/*
 * fingerprints.h - the fingerprints of tools' schemas, and what has changed since they were written
 * down.
 */
#ifndef MCPXCTL_GATE_FINGERPRINTS_H
#define MCPXCTL_GATE_FINGERPRINTS_H

#include <mcpx/json.h>

/**
 * Appends {TOOL: {"input": "sha256:...", "output": "sha256:..." or null}}, the tools in the order
 * of their names.
 *
 * tools   the tools of a server, a JSON array
 * tool    filled on MCPX_EINVALID with the tool (raw JSON) that is at fault
 *
 * Returns MCPX_OK; MCPX_EINVALID when a tool has no name or no input schema, or a schema is
 * ambiguous, or a name stands twice; MCPX_ENOMEM.
 */
enum mcpx_err fingerprints_add(struct mcpx_text *out, struct mcpx_slice tools,
                               struct mcpx_slice *tool);

/**
 * Compares two such documents. Appends a sentence about each tool that was added, changed or is
 * gone, with "; " between them. Returns true when they are equal.
 *
 * was   as it was written down: any well-formed JSON
 * is    as fingerprints_add wrote it
 */
bool fingerprints_equal(struct mcpx_text *out, struct mcpx_slice was, struct mcpx_slice is);

#endif
