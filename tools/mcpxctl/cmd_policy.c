/*
 * cmd_policy.c - what is permitted now, and what another configuration would change: for whom, or
 * for messages about which a router has decided. Those come from an audit, where they are judged at
 * the instant at which they were sent, or from the history of a topic. The history tells only when
 * their senders said that it was, so these are judged as if they were sent now.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "router/store/audit/audit_reader.h"
#include "tools/mcpxctl/audit/audit.h"
#include "tools/mcpxctl/core/fetch.h"
#include "tools/mcpxctl/core/live.h"
#include "tools/mcpxctl/policy.h"
#include <mcpx/envelope.h>
#include <mcpx/json.h>

#include <errno.h>
#include <time.h>

enum { HISTORY_MS = 300000 };

static const char verb[] = "policy";

/* ---- from an audit ---- */

/* What one line says, unescaped. */
struct past_line {
    struct mcpx_text from, topic, kind;
    struct mcpx_text names; /* of addressees, one behind the other */
    struct mcpx_slice to[MCPX_TO_MAX];
    size_t to_count;
};

static void read_addressees(struct past_line *past, struct mcpx_slice to)
{
    size_t ends[MCPX_TO_MAX], begin = 0;
    struct mcpx_json_walk walk;

    past->to_count = 0;
    mcpx_json_walk_start(&walk, to);
    while (past->to_count < MCPX_TO_MAX && mcpx_json_walk_next(&walk)) {
        mcpx_json_add_unescaped(&past->names, walk.value);
        ends[past->to_count++] = past->names.len;
    }
    for (size_t i = 0; i < past->to_count; i++) {
        past->to[i] = (struct mcpx_slice){past->names.text + begin, ends[i] - begin};
        begin = ends[i];
    }
}

/* False for a line that is no decision about a message by grants. */
static bool read_line(struct past_line *past, const struct audit_line *line,
                      struct past_message *out)
{
    bool refused = line->what == AUDIT_REFUSE &&
                   mcpx_json_equals(mcpx_json_get(line->whole, "error"),
                                    mcpx_slice_of(mcpx_error_wire(MCPX_ECAPABILITY)));

    if (line->what != AUDIT_ALLOW && !refused)
        return false;
    mcpx_text_reset(&past->from);
    mcpx_text_reset(&past->topic);
    mcpx_text_reset(&past->kind);
    mcpx_text_reset(&past->names);
    pick_text(&past->from, line, "from");
    pick_text(&past->topic, line, "topic");
    pick_text(&past->kind, line, "kind");
    if (past->kind.len == 0)
        pick_text(&past->kind, line, "kind_sent");
    read_addressees(past, mcpx_json_get(line->whole, "to"));
    *out = (struct past_message){.from = mcpx_text_view(&past->from),
                                 .topic = mcpx_text_view(&past->topic),
                                 .to = past->to,
                                 .to_count = past->to_count,
                                 .wall_ms = line->wall_ms,
                                 .allowed = !refused,
                                 .seq = line->seq};
    return mcpx_kind_parse(mcpx_text_view(&past->kind), &out->kind, NULL) == MCPX_OK;
}

static void free_line(struct past_line *past)
{
    mcpx_text_fini(&past->from);
    mcpx_text_fini(&past->topic);
    mcpx_text_fini(&past->kind);
    mcpx_text_fini(&past->names);
}

static int compare_folder(struct comparison *comparison, const char *folder)
{
    static struct past_line past; /* too large for a stack */
    struct past_message message;
    struct audit_reader reader;
    struct audit_row row;
    struct audit_line line;
    enum mcpx_err err = audit_reader_open(folder, &reader);
    int error = errno, status = STATUS_OK;

    while (!err && audit_reader_next(&reader, &row))
        if (audit_line_read(row.text, &line) && read_line(&past, &line, &message))
            comparison_judge(comparison, &message);
    if (memory_checked(err) == MCPX_ENOTFOUND)
        status = fail_with(STATUS_USAGE, verb, "there is no audit-N.jsonl in --audit");
    else if (err || reader.error)
        status =
            fail_with(STATUS_USAGE, verb, "--audit: %s", strerror(err ? error : reader.error));
    free_line(&past);
    audit_reader_close(&reader);
    return status;
}

static int compare_folders(struct comparison *comparison, const struct arguments *arguments)
{
    const struct option_word *word;
    size_t at = 0;
    int status = STATUS_OK;

    while (status == STATUS_OK && (word = arguments_next(arguments, "--audit", &at)) != NULL)
        status = compare_folder(comparison, word->value);
    return status;
}

/* ---- from the history of a topic ---- */

struct retained {
    struct comparison *comparison;
    struct mcpx_slice topic;
    int64_t wall_ms;
};

static void judge_entry(void *context, struct entry *entry)
{
    const struct retained *retained = context;
    struct past_message message = {.from = entry->from,
                                   .topic = retained->topic,
                                   .kind = entry->kind,
                                   .to = entry->to,
                                   .to_count = entry->to_count,
                                   .wall_ms = retained->wall_ms,
                                   .allowed = true,
                                   .id = entry->id};

    comparison_judge(retained->comparison, &message);
    entry_free(entry);
}

static int compare_history(struct comparison *comparison, const struct arguments *arguments)
{
    struct connection where;
    int status = connection_read(arguments, &where);

    if (status == STATUS_OK) {
        struct retained retained = {comparison, mcpx_slice_of(where.client.topic),
                                    (int64_t)time(NULL) * 1000};
        struct fetch_order order = {
            .limit = SIZE_MAX,
            .deadline_ms = live_deadline(arguments_ms(arguments, "--timeout", HISTORY_MS)),
            .bytes_max = UINT64_MAX, /* nothing is kept */
            .take = judge_entry,
            .context = &retained};

        status = fetch_each(&where, verb, &order);
    }
    connection_fini(&where);
    return status;
}

/* ---- the verb ---- */

const struct option_row policy_options[] = {
    {"--audit", "FOLDER", VALUE_FILE, OPTION_REPEATED,
     "diff: compare the decisions that are recorded there, not the configurations"},
    {"--history", NULL, VALUE_NONE, 0,
     "diff: compare what the messages that the router retains of the topic would meet"},
    {"--timeout", "S", VALUE_SECONDS, 0,
     "diff --history: how long it may take to read the history, 0 for ever; 300"},
    {"--json", NULL, VALUE_NONE, 0,
     "print one JSON object, or of diff --audit and diff --history one for each difference, "
     "then one with sums"},
    {.name = NULL},
};

/* Nothing that fails may be taken for a difference. */
static int compare(const struct arguments *arguments, struct comparison *comparison)
{
    bool json = arguments_have(arguments, "--json");
    int status;

    if (arguments_have(arguments, "--history"))
        status = compare_history(comparison, arguments);
    else if (arguments_have(arguments, "--audit"))
        status = compare_folders(comparison, arguments);
    else
        return policy_compare(&comparison->configs[OLD], &comparison->configs[NEW], json);
    if (status == STATUS_OK)
        return comparison_tell(comparison, json);
    return status == STATUS_FAILED ? STATUS_USAGE : status;
}

static int diff(const struct arguments *arguments)
{
    struct comparison comparison = {.judged = 0};
    int status = STATUS_OK;

    if (arguments->operand_count != 3)
        return fail_with(STATUS_USAGE, verb, "diff wants two configurations, OLD and NEW");
    if (arguments_have(arguments, "--history") && arguments_have(arguments, "--audit"))
        return fail_with(STATUS_USAGE, verb, "diff takes --audit or --history, not both");
    for (int i = OLD; i <= NEW && status == STATUS_OK; i++)
        status = load_config(verb, arguments->operands[1 + i], &comparison.configs[i]);
    if (status == STATUS_OK)
        status = compare(arguments, &comparison);
    comparison_fini(&comparison);
    return status;
}

int cmd_policy(const struct arguments *arguments)
{
    const char *word = arguments->operands[0];

    if (arguments_have(arguments, "--timeout") && !arguments_have(arguments, "--history"))
        return fail_with(STATUS_USAGE, verb, "--timeout is for --history");
    if (strcmp(word, "diff") == 0)
        return diff(arguments);
    if (strcmp(word, "show") != 0)
        return fail_with(STATUS_USAGE, verb, "the first word is show or diff");
    if (arguments->operand_count > 1 || arguments_have(arguments, "--audit") ||
        arguments_have(arguments, "--history"))
        return fail_with(STATUS_USAGE, verb,
                         "show asks the running router, and takes no file, no --audit and no "
                         "--history");
    return policy_show(arguments);
}
