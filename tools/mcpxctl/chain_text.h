/*
 * chain_text.h - a chain for people and for programs.
 */
#ifndef MCPXCTL_CHAIN_TEXT_H
#define MCPXCTL_CHAIN_TEXT_H

#include "tools/mcpxctl/chain.h"
#include <mcpx/text.h>

/**
 * Appends a line per step, indented below the envelope that it is about: id, time or time since
 * that envelope, role, from and to, kind, and whether a fulfilment is what was proposed. The
 * last line has the state.
 */
void chain_write(struct mcpx_text *out, const struct ledger *ledger, const struct chain *chain,
                 bool colour);

/**
 * Appends a JSON object per line and step: role, state (of the chain, first step only), id,
 * parent, after_ms, same_params, envelope (its own bytes). Members that do not apply are left
 * out.
 */
void chain_write_json(struct mcpx_text *out, const struct chain *chain);

#endif
