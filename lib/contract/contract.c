/*
 * contract.c - the contracts by name. Each is a file of schemas/ that the build has put into the
 * library; what is valid is said there and nowhere else.
 */
#include <mcpx/contract.h>

#include "lib/contract/builtin.h"

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
    static const char prefix[] = "urn:mcpx:contract:";
    struct mcpx_slice name = mcpx_slice_of(mcpx_contract_name(contract));

    for (const struct mx_builtin *row = mx_contracts; name.text && row->uri.text; row++) {
        struct mcpx_slice own = {row->uri.text + sizeof prefix - 1,
                                 row->uri.len - (sizeof prefix - 1)};

        if (mcpx_slice_equal(name, own))
            return row->text;
    }
    return (struct mcpx_slice){NULL, 0};
}
