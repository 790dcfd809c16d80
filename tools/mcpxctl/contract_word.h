/*
 * contract_word.h - a contract's name from the command line.
 */
#ifndef MCPXCTL_CONTRACT_WORD_H
#define MCPXCTL_CONTRACT_WORD_H

#include <mcpx/contract.h>

/**
 * Reads a name. Complains, with the name that may have been meant, and returns false when there is
 * no such contract.
 */
bool contract_word_read(const char *verb, const char *word, enum mcpx_contract *out);

#endif
