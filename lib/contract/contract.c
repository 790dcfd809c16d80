/*
 * contract.c - the contracts by name. Each is a file of schemas/ that the build has put into the
 * library; what is valid is said there and nowhere else.
 */
#include <mcpx/contract.h>

#include "lib/contract/embedded.h"

struct row {
    const char *name;
    enum mcpx_code breach;
};

#define ROW(constant, name, breach) [constant] = {name, breach},
static const struct row rows[MCPX_CONTRACT_COUNT] = {MCPX_CONTRACTS(ROW)};

const char *mcpx_contract_name(enum mcpx_contract contract)
{
    return (unsigned)contract < MCPX_CONTRACT_COUNT ? rows[contract].name : NULL;
}

bool mcpx_contract_find(struct mcpx_slice name, enum mcpx_contract *out)
{
    for (int contract = 0; contract < MCPX_CONTRACT_COUNT; contract++) {
        if (!mcpx_slice_equal(name, mcpx_slice_of(rows[contract].name)))
            continue;
        *out = (enum mcpx_contract)contract;
        return true;
    }
    return false;
}

enum mcpx_code mcpx_contract_breach(enum mcpx_contract contract)
{
    return (unsigned)contract < MCPX_CONTRACT_COUNT ? rows[contract].breach
                                                    : MCPX_CODE_INTERNAL_ERROR;
}

struct mcpx_slice mcpx_contract_schema(enum mcpx_contract contract)
{
    struct mcpx_slice name = mcpx_slice_of(mcpx_contract_name(contract));

    for (const struct mx_embedded *row = mx_embedded; name.text && row->name; row++)
        if (mcpx_slice_equal(name, mcpx_slice_of(row->name)))
            return row->text;
    return (struct mcpx_slice){NULL, 0};
}
