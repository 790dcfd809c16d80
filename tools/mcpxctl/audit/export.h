/*
 * export.h - a line of an audit as others want it: a row of a spreadsheet, a CloudEvent, an event
 * of OCSF. docs/audit.md, "For other programs".
 */
#ifndef MCPXCTL_AUDIT_EXPORT_H
#define MCPXCTL_AUDIT_EXPORT_H

#include "router/store/audit_line.h"

/** A form. */
enum export_form { EXPORT_JSON, EXPORT_CSV, EXPORT_CLOUDEVENTS, EXPORT_OCSF };

/** The form of that name, as --format lists them. `name` is one of them. */
enum export_form export_form_of(const char *name);

/** Appends what stands before all lines: the names of CSV's columns; nothing for other forms. */
void export_head(struct mcpx_text *out, enum export_form form);

/**
 * Appends a line with its end.
 *
 * source   of CloudEvents: a URI reference
 */
void export_line(struct mcpx_text *out, enum export_form form, const struct audit_line *line,
                 struct mcpx_slice source);

#endif
