/*
 * verbs.h - the verbs of mcpxctl; each returns an exit code.
 */
#ifndef MCPXCTL_VERBS_H
#define MCPXCTL_VERBS_H

#include "tools/common/command.h"

extern const struct option_row grant_options[], revoke_options[], kick_options[],
    policy_options[], validate_options[], wrap_options[];

int cmd_approve(const struct arguments *arguments);
int cmd_audit(const struct arguments *arguments);
int cmd_call(const struct arguments *arguments);
int cmd_can(const struct arguments *arguments);
int cmd_chain(const struct arguments *arguments);
int cmd_context(const struct arguments *arguments);
int cmd_contract(const struct arguments *arguments);
int cmd_digest(const struct arguments *arguments);
int cmd_gate(const struct arguments *arguments);
int cmd_grant(const struct arguments *arguments);
int cmd_history(const struct arguments *arguments);
int cmd_jwks(const struct arguments *arguments);
int cmd_kick(const struct arguments *arguments);
int cmd_kind(const struct arguments *arguments);
int cmd_list(const struct arguments *arguments);
int cmd_parity(const struct arguments *arguments);
int cmd_policy(const struct arguments *arguments);
int cmd_proposals(const struct arguments *arguments);
int cmd_propose(const struct arguments *arguments);
int cmd_reject(const struct arguments *arguments);
int cmd_reload(const struct arguments *arguments);
int cmd_revoke(const struct arguments *arguments);
int cmd_say(const struct arguments *arguments);
int cmd_status(const struct arguments *arguments);
int cmd_store(const struct arguments *arguments);
int cmd_token(const struct arguments *arguments);
int cmd_validate(const struct arguments *arguments);
int cmd_watch(const struct arguments *arguments);
int cmd_who(const struct arguments *arguments);
int cmd_withdraw(const struct arguments *arguments);
int cmd_wrap(const struct arguments *arguments);

#endif
