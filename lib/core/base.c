/*
 * base.c - slices compared, the version told. Nothing here allocates.
 */
#include <mcpx/base.h>

int mcpx_slice_compare(struct mcpx_slice a, struct mcpx_slice b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.text, b.text, common) : 0;

    if (order)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

const char *mcpx_version(void)
{
    return MCPX_VERSION_STRING;
}
