/*
 * shown.h - a line of an audit for people.
 */
#ifndef MCPXCTL_AUDIT_SHOWN_H
#define MCPXCTL_AUDIT_SHOWN_H

#include "router/store/audit_verify.h"

/** Appends a line as a sentence of a few words, made visible, with its line end. */
void shown_line(struct mcpx_text *out, const struct audit_line *line);

/**
 * Appends what verify found, for people or as one JSON object.
 *
 * folder   as it was named
 * file     name of the file that the verdict means; "" when there is no damage
 */
void shown_verdict(struct mcpx_text *out, const struct audit_verdict *verdict, bool json,
                   const char *folder, const char *file);

#endif
