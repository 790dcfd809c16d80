/*
 * cmd_validate.c - validates documents by a contract, or by a schema from a file. Lines are
 * validated as they are read, so a log may be longer than memory and need not be complete. The
 * command line names the files for references of a schema. A URI in a foreign schema cannot lead to
 * other files.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/base/digits.h"
#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "tools/common/input.h"
#include "tools/common/visible.h"
#include <mcpx/text.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- documents that a schema may refer to ---- */

/* A file that was asked for. An unreadable one causes one complaint only. */
struct known_text {
    struct mcpx_text path, text;
    bool is_read;
};

/* Documents known to a command line. `texts`, `count`, `room`: those that were asked for. */
struct known {
    const struct arguments *arguments;
    struct known_text *texts;
    size_t count, room;
};

static void known_fini(struct known *known)
{
    for (size_t i = 0; i < known->count; i++) {
        mcpx_text_fini(&known->texts[i].path);
        mcpx_text_fini(&known->texts[i].text);
    }
    free(known->texts);
}

/* The URI of a --known, without an empty fragment. */
static struct mcpx_slice uri_of(const struct option_word *word)
{
    struct mcpx_slice uri = {word->value, strcspn(word->value, "=")};

    uri.len -= uri.text[uri.len - 1] == '#';
    return uri;
}

/* The --known with the longest URI that covers this one; NULL when there is none. */
static const struct option_word *option_for(const struct known *known, struct mcpx_slice uri)
{
    const struct option_word *word, *best = NULL;

    for (size_t at = 0; (word = arguments_next(known->arguments, "--known", &at));) {
        struct mcpx_slice own = uri_of(word);
        bool folder = own.len > 0 && own.text[own.len - 1] == '/';

        if ((folder ? uri.len >= own.len : uri.len == own.len) &&
            memcmp(uri.text, own.text, own.len) == 0 && (!best || own.len > uri_of(best).len))
            best = word;
    }
    return best;
}

/* Appends a path that stays in its folder: no part of it is empty, "." or "..", or holds NUL. */
static bool add_path(struct mcpx_text *out, struct mcpx_slice rest)
{
    size_t begin = out->len;

    mx_percent_decode(out, rest);
    rest = mx_behind(mcpx_text_view(out), begin);
    while (rest.text) {
        struct mcpx_slice part = mx_cut_at(&rest, '/');

        if (part.len == 0 || memchr(part.text, '\0', part.len) ||
            mcpx_slice_equal(part, MCPX_SLICE(".")) ||
            mcpx_slice_equal(part, MCPX_SLICE("..")))
            return false;
    }
    return true;
}

/* Appends the path of a URI. */
static bool find_path(const struct known *known, struct mcpx_slice uri, struct mcpx_text *out)
{
    const struct option_word *word = option_for(known, uri);
    struct mcpx_slice own;

    if (!word)
        return false;
    own = uri_of(word);
    mcpx_text_puts(out, strchr(word->value, '=') + 1);
    if (uri.len == own.len)
        return true;
    mcpx_text_puts(out, "/");
    return add_path(out, (struct mcpx_slice){uri.text + own.len, uri.len - own.len});
}

/* Reads a file, unless it was read before. */
static const struct known_text *read_text(struct known *known, const struct mcpx_text *path)
{
    struct known_text *text;

    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->texts[i].path.text, path->text) == 0)
            return &known->texts[i];
    mx_make_room(&known->texts, known->count, &known->room, sizeof *text);
    text = &known->texts[known->count++];
    *text = (struct known_text){.path = mx_formatted("%s", path)};
    text->is_read = input_read(path->text, &text->text) == STATUS_OK;
    return text;
}

/*
 * Finds a document: `find` of struct mcpx_schema_options. Its context is a struct known.
 *
 * uri    without fragment. A --known with the same URI names its file. Else the longest one names a
 *        folder: its URI ends with "/" and begins this one. The rest of the URI is a path inside of
 *        the folder
 * text   filled, and lent until known_fini
 *
 * Returns false when no document is known, or when its file cannot be read; complains of the file.
 */
static bool known_find(void *context, struct mcpx_slice uri, struct mcpx_slice *text)
{
    struct known *known = context;
    mx_scoped_text path = {0};
    const struct known_text *found =
        find_path(known, uri, &path) ? read_text(known, &path) : NULL;

    if (!found || !found->is_read)
        return false;
    *text = mcpx_text_view(&found->text);
    return true;
}

/* ---- the verb ---- */

/* The contract or schema for documents, and the results so far. */
struct judge {
    const struct arguments *arguments;
    struct mcpx_shelf *shelf;
    struct mcpx_contracts *contracts;
    struct mcpx_schema *schema; /* from a file; NULL: `contract` counts */
    enum mcpx_contract contract;
    bool unusable; /* the schema cannot be used: `report` is about it */
    struct mcpx_schema_report report;
    size_t judged; /* documents so far */
    size_t broken; /* those that are not valid */
};

/* The code of a breach. An exceeded bound says nothing about the document. */
static const char *code_of(const struct judge *judge)
{
    static const enum mcpx_code breaches[] = {MCPX_CODE_INVALID_INPUT,
                                              MCPX_CODE_INVALID_OUTPUT};

    if (judge->unusable || judge->report.verdict == MCPX_VERDICT_UNKNOWN)
        return mcpx_code_name(MCPX_CODE_INTERNAL_ERROR);
    if (!judge->schema)
        return mcpx_code_name(mcpx_contract_breach(judge->contract));
    return mcpx_code_name(breaches[arguments_choice(judge->arguments, "--direction")]);
}

static void write_json(struct mcpx_text *out, const struct judge *judge, bool valid)
{
    const struct mcpx_schema_report *report = &judge->report;

    mx_format(out, "\"valid\":%s,\"contract\":%q",
              judge->unusable ? "null"
              : valid         ? "true"
                              : "false",
              judge->arguments->operands[0]);
    if (valid)
        mcpx_text_puts(out, ",\"code\":null");
    else
        mx_format(out, ",\"code\":%q", code_of(judge));
    if (valid || report->count == 0)
        mcpx_text_puts(out, ",\"path\":null");
    else
        mx_format(out, ",\"path\":%q", report->errors[0].path);
    mcpx_text_puts(out, ",\"errors\":");
    mcpx_schema_errors_add(out, report);
    mcpx_text_puts(out, "}\n");
}

/* Paths hold names of the document's members, so people see them made visible. */
static void write_sentences(struct mcpx_text *out, const struct judge *judge, bool valid)
{
    if (valid) {
        mcpx_text_puts(out, "valid\n");
        return;
    }
    mx_format(out, "%s (%s)\n", judge->unusable ? "the schema cannot be used" : "not valid",
              code_of(judge));
    for (size_t i = 0; i < judge->report.count; i++) {
        const struct mcpx_schema_error *error = &judge->report.errors[i];

        text_format(out, "  %s: %s\n",
                    error->path.len > 0 ? error->path : MCPX_SLICE("the whole text"),
                    error->message);
    }
}

/* Prints a verdict. `line` of the input; 0 = the input is one document. */
static void tell(struct judge *judge, size_t line)
{
    bool valid = !judge->unusable && judge->report.verdict == MCPX_VERDICT_VALID;
    bool json = arguments_have(judge->arguments, "--json");
    struct mcpx_text out = {0};

    if (arguments_have(judge->arguments, "--quiet") || (!json && line > 0 && valid))
        return;
    mcpx_text_puts(&out, json ? "{" : "");
    if (line > 0)
        mx_format(&out, json ? "\"line\":%s," : "line %s: ", line);
    (json ? write_json : write_sentences)(&out, judge, valid);
    output_print(&out, STATUS_OK);
}

static void judge_text(struct judge *judge, struct mcpx_slice text, size_t line)
{
    enum mcpx_err err =
        judge->schema
            ? mcpx_schema_validate(judge->schema, text, &judge->report)
            : mcpx_contracts_validate(judge->contracts, judge->contract, text, &judge->report);

    judge->judged++;
    judge->broken += memory_checked(err) != MCPX_OK;
    tell(judge, line);
}

static void judge_input(struct judge *judge)
{
    const char *file = judge->arguments->operands[1];
    mx_scoped_text text = {0};
    struct input_lines lines;
    struct mcpx_slice line;

    if (!arguments_have(judge->arguments, "--lines")) {
        must(input_read(file, &text));
        judge_text(judge, mcpx_text_view(&text), 0);
        return;
    }
    must(input_lines_open(file, &lines));
    while (input_lines_next(&lines, &line))
        judge_text(judge, line, judge->judged + 1);
    must(input_lines_close(&lines));
}

/* FILE#POINTER: the pointer is empty or begins with "/"; any other "#" is one of the name. */
static char *split_schema_word(const char *word, struct mcpx_slice *pointer)
{
    char *file = strdup(word), *hash = strrchr(file, '#');

    *pointer = (struct mcpx_slice){NULL, 0};
    if (!hash || (hash[1] != '\0' && hash[1] != '/'))
        return file;
    *hash = '\0';
    *pointer = mcpx_slice_of(word + (hash - file) + 1);
    return file;
}

static void compile(struct judge *judge, struct mcpx_slice text, struct mcpx_slice pointer)
{
    static const enum mcpx_dialect dialects[] = {MCPX_DIALECT_2020_12, MCPX_DIALECT_DRAFT_07};
    MX_SCOPED(known_fini) struct known known = {.arguments = judge->arguments};
    struct mcpx_schema_options options = {
        .dialect = dialects[arguments_choice(judge->arguments, "--dialect")],
        .pointer = pointer,
        .find = known_find,
        .context = &known,
    };

    judge->unusable = memory_checked(mcpx_schema_compile(judge->shelf, text, &options,
                                                         &judge->report, &judge->schema)) != 0;
    if (!judge->unusable)
        return;
    tell(judge, 0);
    program_end(STATUS_USAGE);
}

static void read_schema(struct judge *judge, const char *word)
{
    struct mcpx_slice pointer;
    mx_scoped_text text = {0};
    char *file = split_schema_word(word, &pointer);

    if (input_is_standard(file) && input_is_standard(judge->arguments->operands[1]))
        end_with(STATUS_USAGE, "standard input cannot be both the schema and the document");
    must(input_read(file, &text));
    free(file);
    compile(judge, mcpx_text_view(&text), pointer);
}

/* Checks the options: those about a schema from a file require the word `schema`. */
static int check_words(const struct arguments *arguments, bool is_schema)
{
    static const char *const about_schema[] = {"--schema", "--known", "--dialect",
                                               "--direction"};
    const struct option_word *word;
    size_t at = 0;

    for (size_t i = 0; i < sizeof about_schema / sizeof *about_schema && !is_schema; i++)
        if (arguments_have(arguments, about_schema[i]))
            return fail_with(STATUS_USAGE, "%s goes with the word schema: validate schema",
                             about_schema[i]);
    if (is_schema && !arguments_have(arguments, "--schema"))
        return fail_with(STATUS_USAGE, "--schema FILE says which schema");
    if (arguments_have(arguments, "--json") && arguments_have(arguments, "--quiet"))
        return fail_with(STATUS_USAGE, "--json and --quiet exclude each other");
    while ((word = arguments_next(arguments, "--known", &at)) != NULL) {
        size_t uri = strcspn(word->value, "=");

        if (uri == 0 || strlen(word->value) < uri + 2)
            return fail_with(STATUS_USAGE, "--known needs URI=PATH");
    }
    return STATUS_OK;
}

static int cmd_validate(const struct arguments *arguments)
{
    struct judge judge = {.arguments = arguments};
    bool is_schema = strcmp(arguments->operands[0], "schema") == 0;

    must(check_words(arguments, is_schema));
    if (!is_schema && !contract_word_read(arguments->operands[0], &judge.contract))
        return STATUS_USAGE;
    judge.shelf = mcpx_shelf_new();
    judge.contracts = mcpx_contracts_new(judge.shelf);
    if (is_schema)
        read_schema(&judge, arguments_value(arguments, "--schema"));
    judge_input(&judge);
    /* Valid lines print nothing, so a sum follows. */
    if (arguments_have(arguments, "--lines") && !arguments_have(arguments, "--json") &&
        !arguments_have(arguments, "--quiet"))
        printf("%zu line%s, %zu not valid\n", judge.judged, judge.judged == 1 ? "" : "s",
               judge.broken);
    mcpx_schema_report_fini(&judge.report);
    mcpx_schema_unref(judge.schema);
    mcpx_contracts_free(judge.contracts);
    mcpx_shelf_free(judge.shelf);
    return judge.broken > 0 ? STATUS_FAILED : STATUS_OK;
}

const struct command validate_verbs[] = {
    {"validate", "CONTRACT [FILE]", 1, 2, false, "does a document keep a contract?",
     "Judges the document in FILE, or on standard input, by the contract of that name, or, "
     "for the word schema, by a schema from a file: dialect 2020-12 or draft-07. Says where "
     "the document is wrong and what is expected there, ten places at most. Nothing that a "
     "schema refers to is fetched; --known names files for it. Exits 0 when all documents are "
     "valid, 1 when one is not, 2 when the input is invalid: an unknown contract, a "
     "file that cannot be read, a schema that cannot be used.",
     OPTIONS(
         SWITCH("--lines", "each line is a document, as in a log"),
         OPTION(
             "--schema", "FILE[#POINTER]", VALUE_FILE, 0,
             "the schema, or with a JSON Pointer a part of the file: tool.json#/inputSchema"),
         OPTION("--known", "URI=PATH", VALUE_TEXT, OPTION_REPEATED,
                "a document that the schema may refer to; a folder of them where URI ends "
                "with /"),
         OPTION("--dialect", "2020-12|draft-07", VALUE_CHOICE, 0,
                "what a schema without $schema is written in; 2020-12"),
         OPTION(
             "--direction", "request|response", VALUE_CHOICE, 0,
             "which code a breach of a schema is: INVALID_INPUT or INVALID_OUTPUT; request"),
         JSON_OPTION("print one JSON object for each document"),
         SWITCH("--quiet", "print nothing: the exit code is the answer")),
     NULL, cmd_validate, "contracts and releases"},
    {.name = NULL},
};
