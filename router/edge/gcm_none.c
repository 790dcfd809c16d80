/*
 * gcm_none.c - for a build without libipsec-mb.
 */
#include "router/edge/gcm.h"

#include <stddef.h>

struct ossl_lib_ctx_st *gcm_library(void)
{
    return NULL;
}
