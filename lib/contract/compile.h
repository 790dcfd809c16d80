/*
 * compile.h - from the documents of a schema to a program.
 */
#ifndef MX_COMPILE_H
#define MX_COMPILE_H

#include "lib/contract/build.h"

/**
 * Makes the program of the schema at a place, and of all schemas in its document, so that a fault
 * is found where nothing refers to it too.
 *
 * build   zeroed, with `program` (zeroed) and `library`; on MCPX_EINVALID it says where and why,
 *         unless the library does
 *
 * Returns MCPX_OK, MCPX_EINVALID or MCPX_ENOMEM.
 */
enum mcpx_err mx_compile(struct mx_build *build, struct mx_place root);

/** Frees what making a program took, but not the program. */
void mx_build_fini(struct mx_build *build);

#endif
