/*
 * gcm_none.c - for a build without libipsec-mb.
 */
#include "router/edge/gcm.h"
#include "router/edge/gcm_seal.h"

#include <stddef.h>

struct ossl_lib_ctx_st *gcm_library(void)
{
    return NULL;
}

void gcm_work_for(struct gcm **place)
{
    (void)place;
}

bool gcm_seal(struct gcm *gcm, struct mcpx_slice bytes, struct mcpx_text *out)
{
    (void)gcm;
    (void)bytes;
    (void)out;
    return false;
}
