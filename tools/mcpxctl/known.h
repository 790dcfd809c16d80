/*
 * known.h - documents that a schema may refer to, as --known names them. They are read when
 * something refers to them, and nothing else ever is.
 */
#ifndef MCPXCTL_KNOWN_H
#define MCPXCTL_KNOWN_H

#include "tools/common/command.h"

#include <mcpx/text.h>

/** Documents known to a command line; `arguments` is borrowed, the rest private and zero. */
struct known {
    const struct arguments *arguments;
    struct known_text *texts;
};

/** Frees what was read. */
void known_fini(struct known *known);

/** True when each --known has the form URI=PATH; complains otherwise. */
bool known_are_named(const struct arguments *arguments);

/**
 * Looks for a document: `find` of struct mcpx_schema_options, whose context is a struct known.
 *
 * uri    without fragment. A --known whose URI is the same names its file. Of those whose URI ends
 *        with "/" and begins this one, the longest names a folder, in which the rest of the URI is
 *        a path that does not lead out of it
 * text   filled, and lent until known_fini
 *
 * Returns false when no document is known, or when its file cannot be read; complains of the file.
 */
bool known_find(void *context, struct mcpx_slice uri, struct mcpx_slice *text);

#endif
