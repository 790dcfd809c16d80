/*
 * verbs.h - the verbs of mcpxctl; each returns an exit code. And what completion offers.
 */
#ifndef MCPXCTL_VERBS_H
#define MCPXCTL_VERBS_H

#include "tools/common/command.h"

#include <mcpx/text.h>

extern const struct option_row grant_options[], revoke_options[], kick_options[],
    policy_options[], validate_options[], wrap_options[];

command_verb cmd_approve, cmd_audit, cmd_call, cmd_can, cmd_chain, cmd_context, cmd_contract,
    cmd_digest, cmd_gate, cmd_grant, cmd_history, cmd_jwks, cmd_kick, cmd_kind, cmd_list,
    cmd_parity, cmd_policy, cmd_proposals, cmd_propose, cmd_reject, cmd_reload, cmd_revoke,
    cmd_say, cmd_status, cmd_store, cmd_token, cmd_validate, cmd_watch, cmd_who, cmd_withdraw,
    cmd_wrap;

/**
 * Appends the live words of a type (contexts, topics, participants, envelopes, open proposals), one
 * per line: the word, a tab, and a description. Asks the router that the line, the environment and
 * the context name, for one second at most each time. Words that cannot be found out are missing.
 */
void offer_live(const struct arguments *line, enum value_type type, struct mcpx_text *out);

#endif
