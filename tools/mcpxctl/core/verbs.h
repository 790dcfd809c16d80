/*
 * verbs.h - the verbs of mcpxctl; each returns an exit code. What completion offers; what a command
 * line names: addressees, a kind, a contract, an operation, a configuration; and output.
 */
#ifndef MCPXCTL_VERBS_H
#define MCPXCTL_VERBS_H

#include "tools/common/command.h"
#include "tools/common/connect.h"
#include "tools/mcpxctl/core/message.h"
#include <mcpx/contract.h>
#include <mcpx/envelope.h>

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

/** Is given a page, lent. Returns STATUS_OK, or the exit code that ends the survey. */
typedef int (*survey_taker)(void *context, struct mcpx_slice from, struct mcpx_slice result);

/**
 * Joins the topic of a command line and asks those that --to names, or all that could answer, for
 * the pages of a list, until --timeout. A list without end (pages_follow) is complained of, and
 * ends it where --to named its server.
 *
 * list          its name on the command line: "tools"
 * patience_ms   as for live_join; then also in place of --timeout
 *
 * Returns STATUS_OK or an exit code, having complained; STATUS_ABSENT when nobody answers.
 */
int survey_servers(const struct arguments *arguments, const char *list, int64_t patience_ms,
                   survey_taker taker, void *context);

/** Prints what the running router permits whom: as configured, and as changed since. */
int policy_show(const struct arguments *arguments);

struct config;

/**
 * Prints who gains and loses what when `after` takes the place of `before`, as a reload would tell
 * it, and the settings that are different. STATUS_FAILED when anything is.
 */
int policy_compare(const struct config *before, const struct config *after, bool json);

/* ---- what a command line names ---- */

/** Addressees, lent by the command line; none = everyone. */
struct address {
    struct mcpx_slice to[MCPX_TO_MAX];
    size_t count;
};

/** Reads them. Returns STATUS_OK or STATUS_USAGE, having complained. */
int address_read(const struct arguments *arguments, struct address *out);

/**
 * Reads a kind like mcpx_kind_parse, and checks that it is UTF-8.
 *
 * word    borrowed for as long as `out` is used
 * out     filled; untouched on failure
 * fault   filled on failure
 */
bool kind_word_read(const char *word, struct mcpx_kind *out, struct mcpx_fault *fault);

/**
 * Reads a name. Complains, with the name that may have been meant, and returns false when there is
 * no such contract.
 */
bool contract_word_read(const char *word, enum mcpx_contract *out);

/**
 * Judges a text by a contract. Returns true when it keeps it; else the report says why not.
 *
 * report   zero-initialised; finished by the caller in every case
 */
bool contract_is_kept(enum mcpx_contract contract, struct mcpx_slice text,
                      struct mcpx_schema_report *report);

/**
 * Reads what several verbs take: "TOOL [JSON]", --method (else tools/call) and --meta. "-" is JSON
 * from standard input.
 *
 * input   zero-initialised; holds what was read; finished by the caller in every case
 *
 * Returns STATUS_OK or STATUS_USAGE, having complained.
 */
int operation_from(const struct arguments *arguments, struct mcpx_text *input,
                   struct operation *out);

/**
 * Reads a configuration from a file and the environment.
 *
 * out   filled on success, to be released with config_fini
 *
 * Returns STATUS_OK; STATUS_USAGE or STATUS_FAILED, having complained.
 */
int load_config(const char *file, struct config *out);

/* ---- what a verb has composed goes to standard output. ---- */

/**
 * Writes and frees the text; for a terminal as text_shown has it. Returns `status`.
 */
int output_print(struct mcpx_text *text, int status);

/** True when a person looks on: standard output is a terminal, and --json was not given. */
bool output_is_looked_at(const struct arguments *arguments);

/**
 * As output_print for a list. When it is empty and a person looks on, complains of that: `nothing`,
 * such as "no proposal is open", and the topic.
 */
int output_print_list(const struct arguments *arguments, const struct connection *where,
                      struct mcpx_text *text, const char *nothing);

/**
 * Calls the router and writes its answer: with --json as it is, without white space, else as `tell`
 * appends it for people. Returns as connection_call.
 */
int output_answer(const struct arguments *arguments, const struct connection *where,
                  struct http_call call,
                  void (*tell)(struct mcpx_text *out, struct mcpx_slice answer));

#endif
