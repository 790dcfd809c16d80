/*
 * bill.h - a software bill of materials, as far as anybody can tell one from an empty file.
 */
#ifndef MCPXCTL_GATE_BILL_H
#define MCPXCTL_GATE_BILL_H

#include <mcpx/json.h>

/**
 * What is wrong with a bill; NULL when nothing is. It is JSON: that of SPDX has `spdxVersion` and
 * `packages`, that of CycloneDX `bomFormat` and `components`, and there is at least one of them.
 *
 * count   filled with how many packages or components there are, when nothing is wrong
 */
const char *bill_fault(struct mcpx_slice text, size_t *count);

#endif
