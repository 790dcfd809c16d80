/* fault.h - fills a struct mcpx_fault. */
#ifndef MX_FAULT_H
#define MX_FAULT_H

#include <mcpx/base.h>
#include <mcpx/error.h>

/**
 * Notes the error of an input; `reason` and `field` are static. `fault` may be NULL. Returns
 * MCPX_EINVALID.
 */
static inline enum mcpx_err mx_fault_set(struct mcpx_fault *fault, const char *reason,
                                         const char *field, size_t offset)
{
    if (fault)
        *fault = (struct mcpx_fault){reason, field, offset};
    return MCPX_EINVALID;
}

#endif
