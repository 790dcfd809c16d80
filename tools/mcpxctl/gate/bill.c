/*
 * bill.c - knows the two formats by the member that each has to have.
 */
#include "tools/mcpxctl/gate/bill.h"

const char *bill_fault(struct mcpx_slice text, size_t *count)
{
    static const struct {
        const char *sign;
        const char *list;
        const char *fault;
    } formats[] = {
        {"spdxVersion", "packages", "its packages are no list with an item"},
        {"bomFormat", "components", "its components are no list with an item"},
    };
    struct mcpx_slice bill;

    if (mcpx_json_check(text, 0, &bill, NULL) != MCPX_OK)
        return "it is no JSON";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct mcpx_slice list = mcpx_json_get(bill, formats[i].list);

        if (mcpx_json_type(mcpx_json_get(bill, formats[i].sign)) != MCPX_JSON_STRING)
            continue;
        *count = mcpx_json_length(list);
        return mcpx_json_type(list) == MCPX_JSON_ARRAY && *count > 0 ? NULL : formats[i].fault;
    }
    return "it has neither spdxVersion nor bomFormat";
}
