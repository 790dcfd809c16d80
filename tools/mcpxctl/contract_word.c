/*
 * contract_word.c - a name that is not known is answered with the one that may have been meant.
 */
#include "tools/mcpxctl/contract_word.h"

#include "tools/common/command.h"
#include "tools/common/nearest.h"

bool contract_word_read(const char *verb, const char *word, enum mcpx_contract *out)
{
    struct nearest nearest;

    if (mcpx_contract_find(mcpx_slice_of(word), out))
        return true;
    nearest_begin(&nearest, word, strlen(word));
    for (int i = 0; i < MCPX_CONTRACT_COUNT; i++)
        nearest_consider(&nearest, mcpx_contract_name((enum mcpx_contract)i));
    complain_of(verb, mcpx_slice_of(word), " is no contract%s; mcpxctl contract lists them",
                nearest_hint(&nearest));
    return false;
}
