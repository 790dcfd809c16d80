/*
 * verbs.h - the tables of verbs of mcpxctl. Offers for completion; readers of addressees, kinds,
 * contracts, operations and configurations; output.
 */
#ifndef MCPXCTL_VERBS_H
#define MCPXCTL_VERBS_H

#include "tools/common/command.h"
#include "tools/common/connect.h"
#include "tools/common/program.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/message.h"
#include <mcpx/contract.h>
#include <mcpx/envelope.h>

/** The verbs of each cmd_*.c. A new table is named in main.c too. */
extern const struct command ask_verbs[], audit_verbs[], call_verbs[], can_verbs[],
    context_verbs[], contract_verbs[], gate_verbs[], grant_verbs[], history_verbs[],
    list_verbs[], policy_verbs[], prepare_verbs[], propose_verbs[], reload_verbs[],
    status_verbs[], store_verbs[], validate_verbs[];

/* ---- options of verbs in several files; the output of --json differs from verb to verb ---- */

#define JSON_OPTION(help) SWITCH("--json", help)
#define JSON_LINES_OPTION JSON_OPTION("print raw JSON, one object per line")
#define LISTING_OPTIONS OPTIONS(COLOUR_OPTION, JSON_LINES_OPTION)
#define ONE_OBJECT_OPTIONS OPTIONS(JSON_OPTION("print one JSON object"))
#define KIND_OPTION                                                                           \
    OPTION("--kind", "PATTERN", VALUE_TEXT, 0,                                                \
           "only kinds that the pattern covers, as in a grant")
#define FROM_OPTION                                                                           \
    OPTION("--from", "ID", VALUE_PARTICIPANT, 0,                                              \
           "only what this participant and its instances sent")
#define METHOD_OPTION                                                                         \
    OPTION("--method", "METHOD", VALUE_TEXT, 0,                                               \
           "another method than tools/call. TOOL is then the name of its prompt, its URI or " \
           "its task; a method that names nothing takes JSON alone, as its params")

/**
 * Offers the live words of a type (contexts, topics, participants, envelopes, open proposals). Asks
 * the router of the line, the environment and the context, at most one second per call. After a
 * failed lookup the words are missing.
 */
void offer_live(const struct arguments *arguments, enum value_type type,
                struct typing *typing);

/** Receives a page, lent. Returns STATUS_OK, or an exit code to end the survey. */
typedef int (*survey_taker)(void *context, struct mcpx_slice from, struct mcpx_slice result);

/** The first choice of the verb list. */
enum { LIST_TOOLS };

/**
 * Joins the topic of a command line and asks the participants of --to, or all that could answer,
 * for the pages of a list, until --timeout. Complains of an endless list (pages_follow); with --to
 * that ends the survey.
 *
 * list          its place among the choices of the verb list
 * patience_ms   as for live_join; if not 0, also in place of --timeout
 *
 * Returns STATUS_OK or an exit code, having complained; STATUS_ABSENT when no server answers.
 */
int survey_servers(const struct arguments *arguments, size_t list, int64_t patience_ms,
                   survey_taker taker, void *context);

/** Prints the permissions in the running router: as configured, and as changed since. */
int policy_show(const struct arguments *arguments);

struct config;

/**
 * Prints gains and losses of participants when `after` replaces `before`, as a reload reports them,
 * and the changed settings. Returns STATUS_FAILED when anything differs.
 */
int policy_compare(const struct config *before, const struct config *after, bool json);

/* ---- what a command line names ---- */

/** Addressees, lent by the command line; none = everyone. */
struct address {
    struct mcpx_slice to[MCPX_TO_MAX];
    size_t count;
};

/** Reads --to. Returns STATUS_OK or STATUS_USAGE, having complained. */
int address_read(const struct arguments *arguments, struct address *out);

/** Reads a kind like mcpx_kind_parse, and checks that it is UTF-8. The word is lent to `out`. */
bool kind_word_read(const char *word, struct mcpx_kind *out, struct mcpx_fault *fault);

/**
 * Reads the name of a contract. Complains of an unknown name, with the nearest known one, and
 * returns false.
 */
bool contract_word_read(const char *word, enum mcpx_contract *out);

/** Validates a text. Fills the report, zero-initialised, which the caller finishes in any case. */
bool contract_is_kept(enum mcpx_contract contract, struct mcpx_slice text,
                      struct mcpx_schema_report *report);

/**
 * Reads an operation: "TOOL [JSON]", --method (else tools/call) and --meta. "-" is JSON from
 * standard input. Ends the program when one of them is not valid.
 */
void operation_from(const struct arguments *arguments, struct operation *out);

/**
 * Reads a configuration from a file and the environment; config_fini releases it. Ends the program,
 * as must() does, when it has errors.
 */
void load_config(const char *file, struct config *out);

/* ---- composed text goes to standard output. ---- */

/** Writes and frees the text; for a terminal as text_shown makes it. Returns `status`. */
int output_print(struct mcpx_text *text, int status);

/** True when a person reads the output: standard output is a terminal, and --json was not given. */
bool output_is_looked_at(const struct arguments *arguments);

/**
 * As output_print for a list. When it is empty and a person reads the output, complains with
 * `nothing`, such as "no proposal is open", and the topic.
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
