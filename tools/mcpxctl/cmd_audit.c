/*
 * cmd_audit.c - verifies folders of the router's audit, and searches in them. It only reads files
 * and needs no router, so it can run on copies in a safe place.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "router/store/audit/audit_chain.h"
#include "router/store/audit/audit_verify.h"
#include "tools/common/input.h"
#include "tools/mcpxctl/audit/audit.h"

#include <errno.h>

/* A run over the folders of a command line. */
struct run {
    const struct arguments *arguments;
    struct pick pick;
    struct follow follow;
    enum export_form form;
    bool json, found;
};

_Noreturn static void end_of_folder(const char *folder, enum mcpx_err err, int error)
{
    end_of(STATUS_USAGE, mcpx_slice_of(folder), ": %s",
           memory_checked(err) == MCPX_ENOTFOUND ? "there is no audit-N.jsonl in it"
                                                 : strerror(error));
}

/* Calls `each` with every valid line of every folder. Complains of the others. */
static void for_each(struct run *run, void (*each)(struct run *, const struct audit_line *))
{
    const struct arguments *arguments = run->arguments;

    for (size_t i = 1; i < arguments->operand_count; i++) {
        const char *folder = arguments->operands[i];
        MX_SCOPED(audit_reader_close) struct audit_reader reader;
        struct audit_row row;
        struct audit_line line;
        enum mcpx_err err = audit_reader_open(folder, &reader);

        if (err)
            end_of_folder(folder, err, errno);
        follow_next_folder(&run->follow);
        while (audit_reader_next(&reader, &row)) {
            if (audit_line_read(row.text, &line))
                each(run, &line);
            else
                fail_of(STATUS_OK, mcpx_slice_of(folder),
                        ": audit-%llu.jsonl, line %llu is not a line of an audit; left out",
                        (unsigned long long)row.named, (unsigned long long)row.row);
        }
        if (reader.error)
            end_of_folder(folder, MCPX_ESYSTEM, reader.error);
    }
}

/* ---- verify ---- */

/* Fills `keys`, which has room for all that a command line holds. */
static void read_keys(const struct arguments *arguments, struct audit_key **keys,
                      size_t *count)
{
    const struct option_word *word;
    size_t at = 0;

    while ((word = arguments_next(arguments, "--key", &at)) != NULL) {
        mx_scoped_text pem = {0};
        struct mcpx_fault fault = {"", "", 0};

        must(input_read(word->value, &pem));
        if (memory_checked(
                audit_key_read(mcpx_text_view(&pem), AUDIT_PUBLIC, &fault, &keys[*count])))
            end_with(STATUS_USAGE, "%s: %s", input_name(word->value), fault.reason);
        ++*count;
    }
    if (*count == 0)
        end_with(STATUS_USAGE, "--key FILE is required: the public half of the router's "
                               "audit.key_file, as \"openssl pkey -pubout\" prints it");
}

static void read_known(const struct arguments *arguments, struct audit_evidence *evidence)
{
    const char *known = arguments_value(arguments, "--known");
    const char *colon = known ? strchr(known, ':') : NULL;

    if (!known)
        return;
    if (colon)
        evidence->known_sum = mcpx_slice_of(colon + 1);
    if (colon &&
        mx_decimal_read((struct mcpx_slice){known, (size_t)(colon - known)}, INT64_MAX,
                        &evidence->known_seq) &&
        evidence->known_seq > 0 && evidence->known_sum.len == MCPX_SHA256_LEN &&
        strspn(colon + 1, "0123456789abcdef") == MCPX_SHA256_LEN)
        return;
    end_with(STATUS_USAGE, "--known needs SEQ:SHA256, as verify prints it under \"to note\"");
}

static int print_verdict(const struct run *run, const char *folder,
                         const struct audit_reader *reader,
                         const struct audit_evidence *evidence,
                         const struct audit_verdict *verdict)
{
    bool whole = verdict->damage == AUDIT_WHOLE;
    char file[AUDIT_NAME_ROOM] = "";
    struct mcpx_text out = {0};

    if (!whole)
        audit_file_name(reader->seqs[verdict->file], file);
    show_verdict(&out, verdict, run->json, folder, file);
    if (whole && evidence->known_seq > 0 && !verdict->known_met) {
        output_print(&out, STATUS_OK);
        return fail_with(STATUS_ABSENT, "the line of --known is in an older file");
    }
    return output_print(&out, whole ? STATUS_OK : STATUS_FAILED);
}

static int verify_folder(const struct run *run, const char *folder,
                         const struct audit_evidence *evidence)
{
    MX_SCOPED(audit_reader_close) struct audit_reader reader;
    struct audit_rows rows = {audit_reader_next, &reader};
    struct audit_verdict verdict;
    enum mcpx_err err = audit_reader_open(folder, &reader);

    if (err)
        end_of_folder(folder, err, errno);
    memory_checked(audit_verify(&rows, evidence, &verdict));
    if (reader.error)
        end_of_folder(folder, MCPX_ESYSTEM, reader.error);
    return print_verdict(run, folder, &reader, evidence, &verdict);
}

static int verify(struct run *run)
{
    struct audit_key *keys[WORDS_MAX];
    struct audit_evidence evidence = {.keys = keys,
                                      .is_ended = arguments_have(run->arguments, "--ended")};
    int status = STATUS_OK;

    read_keys(run->arguments, keys, &evidence.key_count);
    read_known(run->arguments, &evidence);
    for (size_t i = 1; status == STATUS_OK && i < run->arguments->operand_count; i++)
        status = verify_folder(run, run->arguments->operands[i], &evidence);
    for (size_t i = 0; i < evidence.key_count; i++)
        audit_key_free(keys[i]);
    return status;
}

/* ---- query, chain, export ---- */

static void print_line(const struct run *run, const struct audit_line *line)
{
    const char *source = arguments_value(run->arguments, "--source");
    struct mcpx_text out = {0};

    export_line(&out, run->form, line, mcpx_slice_of(source ? source : "/mcpx-router/audit"));
    output_print(&out, STATUS_OK);
}

static void query_line(struct run *run, const struct audit_line *line)
{
    if (pick_takes(&run->pick, line))
        print_line(run, line);
}

static int query(struct run *run)
{
    for_each(run, query_line);
    return STATUS_OK;
}

static void learn_line(struct run *run, const struct audit_line *line)
{
    if (pick_takes(&run->pick, line))
        follow_learn(&run->follow, line);
}

static void chain_line(struct run *run, const struct audit_line *line)
{
    bool takes = (line->what == AUDIT_UNDELIVERED || pick_takes(&run->pick, line)) &&
                 follow_takes(&run->follow, line);

    run->found |= takes;
    if (takes)
        print_line(run, line);
}

static int chain(struct run *run)
{
    const char *id = arguments_value(run->arguments, "--id");

    if (!id)
        return fail_with(STATUS_USAGE, "chain needs --id ID, that of an envelope");
    follow_add(&run->follow, mcpx_slice_of(id));
    for (int i = 0; run->follow.grown && i < FOLLOW_PASSES; i++) {
        run->follow.grown = false;
        for_each(run, learn_line);
    }
    for_each(run, chain_line);
    return run->found ? STATUS_OK
                      : fail_with(STATUS_ABSENT,
                                  "no line is about an envelope with that id; --id needs the "
                                  "whole id, as --json prints it");
}

static int export_all(struct run *run)
{
    struct mcpx_text head = {0};

    run->form = (enum export_form)arguments_choice(run->arguments, "--format");
    export_head(&head, run->form);
    output_print(&head, STATUS_OK);
    return query(run);
}

/* In the order of the verb's choices. */
static int (*const actions[])(struct run *run) = {verify, query, chain, export_all};

static int cmd_audit(const struct arguments *arguments)
{
    struct run run = {.arguments = arguments, .json = arguments_have(arguments, "--json")};
    int status;

    run.form = run.json ? EXPORT_JSON : EXPORT_SENTENCE;
    pick_read(arguments, &run.pick);
    status = actions[arguments_action(arguments)](&run);
    follow_fini(&run.follow);
    return status;
}

const struct command audit_verbs[] = {
    {"audit", "verify|query|chain|export FOLDER...", 2, WORDS_MAX, false,
     "read the record of decisions that a router keeps",
     "verify says whether the lines of a folder are all there and as the router wrote them, "
     "and if not, names the first that is not: its file, line and number, and what was done "
     "to it. query prints lines, chain those of an envelope, of what it answers and of what "
     "answers it, and export lines in the formats of other programs. Reads files and asks "
     "nobody. Exits 0 when all is whole, 1 when something is damaged, 2 when the input is "
     "invalid: no key, or a folder that cannot be read, 4 when no line is about the envelope, "
     "or the line of --known is in an older file.",
     OPTIONS(
         OPTION("--key", "FILE", VALUE_FILE, OPTION_REPEATED,
                "verify: the public half of a key that checkpoints are signed with, in PEM; "
                "needed"),
         SWITCH("--ended",
                "verify: the router was ended and does not run, so the end has to be there"),
         OPTION("--known", "SEQ:SHA256", VALUE_TEXT, 0,
                "verify: a line that was noted elsewhere, so it has to be there"),
         OPTION("--id", "ID", VALUE_TEXT, 0, "chain: an envelope of the chain; needed"),
         OPTION("--format", "json|csv|cloudevents|ocsf", VALUE_CHOICE, 0,
                "export: what to print; json"),
         OPTION("--source", "URI", VALUE_TEXT, 0,
                "export: the source that CloudEvents name; /mcpx-router/audit"),
         OPTION("--what", "WHAT", VALUE_TEXT, OPTION_REPEATED,
                "only lines of this sort, such as allow or refuse"),
         OPTION("--topic", "TOPIC", VALUE_TEXT, 0, "only lines about this topic"), KIND_OPTION,
         FROM_OPTION,
         OPTION("--since", "TIME", VALUE_TEXT, 0, "only lines of this instant and later"),
         OPTION("--until", "TIME", VALUE_TEXT, 0, "only lines before this instant"),
         JSON_OPTION(
             "print lines as they are, and of verify one JSON object for each folder")),
     NULL, cmd_audit, "keep"},
    {.name = NULL},
};
