/*
 * verbs.c - reads the words of a command line, and prints. The command line may hold any bytes, an
 * envelope only UTF-8: an impossible kind is refused here. Complaints about an unknown name have
 * the nearest known one.
 *
 * The router's own function reads a configuration, from the same file and environment. So offline
 * answers are the router's, and a configuration that it refuses is an error here too.
 *
 * Text is composed first and written at once, so a verb that fails half way does not print part of
 * an answer. Text for a terminal always passes a last filter here. Text for a program keeps its
 * bytes.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/edge/timer.h"
#include "lib/json/scan.h"
#include "router/policy/config/config.h"
#include "tools/common/command.h"
#include "tools/common/input.h"
#include "tools/common/visible.h"

#include <stdio.h>
#include <unistd.h>

int address_read(const struct arguments *arguments, struct address *out)
{
    const struct option_word *word;

    out->count = 0;
    for (size_t at = 0; (word = arguments_next(arguments, "--to", &at));) {
        struct mcpx_slice to = mcpx_slice_of(word->value);

        if (!mcpx_participant_id_is_valid(to))
            return fail_with(STATUS_USAGE, "--to needs a participant id of 1..%d bytes",
                             MCPX_ID_MAX);
        if (out->count == MCPX_TO_MAX)
            return fail_with(STATUS_USAGE, "at most %d addressees", MCPX_TO_MAX);
        out->to[out->count++] = to;
    }
    return STATUS_OK;
}

bool kind_word_read(const char *word, struct mcpx_kind *out, struct mcpx_fault *fault)
{
    struct mcpx_slice text = mcpx_slice_of(word);
    size_t offset = 0;

    if (!mx_utf8_is_valid(text, &offset)) {
        *fault = (struct mcpx_fault){"expected UTF-8", "kind", offset};
        return false;
    }
    return mcpx_kind_parse(text, out, fault) == MCPX_OK;
}

bool contract_word_read(const char *word, enum mcpx_contract *out)
{
    struct nearest nearest;

    if (mcpx_contract_find(mcpx_slice_of(word), out))
        return true;
    nearest_begin(&nearest, word, strlen(word));
    for (int i = 0; i < MCPX_CONTRACT_COUNT; i++)
        nearest_consider(&nearest, mcpx_contract_name((enum mcpx_contract)i));
    fail_of(STATUS_USAGE, mcpx_slice_of(word),
            " is no contract%s; mcpxctl contract lists them", nearest.hint);
    return false;
}

bool contract_is_kept(enum mcpx_contract contract, struct mcpx_slice text,
                      struct mcpx_schema_report *report)
{
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    struct mcpx_contracts *contracts = mcpx_contracts_new(shelf);
    enum mcpx_err err =
        memory_checked(mcpx_contracts_validate(contracts, contract, text, report));

    mcpx_contracts_free(contracts);
    mcpx_shelf_free(shelf);
    return !err;
}

extern char **environ;

void load_config(const char *file, struct config *out)
{
    struct config_sources sources = {.file = file,
                                     .environment = (const char *const *)environ,
                                     .chance = {mx_chance_fill, NULL}};
    mx_scoped_text errors = {0};
    enum mcpx_err err = config_load(&sources, &errors, out);

    if (errors.text)
        fwrite(errors.text, 1, errors.len, stderr);
    if (err)
        complain("%s", mcpx_strerror(err));
    must(!err ? STATUS_OK : err == MCPX_ECONFIG ? STATUS_USAGE : STATUS_FAILED);
}

void operation_from(const struct arguments *arguments, struct operation *out)
{
    const char *method = arguments_value(arguments, "--method");
    const char *words[2] = {arguments->operands[0], arguments->operands[1]};
    size_t last = arguments->operand_count - 1;
    const char *meta = arguments_value(arguments, "--meta");
    bool is_input = arguments->operand_count > 0 && strcmp(words[last], "-") == 0;
    struct mcpx_text input = {0};

    if (is_input) {
        must(input_read(NULL, &input));
        words[last] = input.text ? input.text : "";
        if (strlen(words[last]) != input.len)
            end_with(STATUS_USAGE, "standard input is no JSON: it holds a NUL");
    }
    must(operation_read(method ? method : "tools/call", words, arguments->operand_count,
                        is_input ? "JSON: standard input" : "JSON: the operand", out));
    out->own_argument = input;
    if (meta)
        must(operation_read_meta(meta, out));
}

/* ---- what is printed ---- */

bool output_is_looked_at(const struct arguments *arguments)
{
    return isatty(STDOUT_FILENO) && !arguments_have(arguments, "--json");
}

int output_print_list(const struct arguments *arguments, const struct connection *where,
                      struct mcpx_text *text, const char *nothing)
{
    if (text->len == 0 && output_is_looked_at(arguments))
        complain("%s in the topic %s", nothing, where->client.topic);
    return output_print(text, STATUS_OK);
}

int output_print(struct mcpx_text *text, int status)
{
    struct mcpx_text shown = {0};

    if (text->len > 0 && isatty(STDOUT_FILENO)) {
        text_shown(&shown, text_whole(text));
        mcpx_text_fini(text);
        *text = shown;
    }
    if (text_whole(text).len > 0)
        fwrite(text->text, 1, text->len, stdout);
    (void)output_error();
    mcpx_text_fini(text);
    return status;
}

int output_answer(const struct arguments *arguments, const struct connection *where,
                  struct http_call call,
                  void (*tell)(struct mcpx_text *out, struct mcpx_slice answer))
{
    mx_scoped_text answer = {0};
    struct mcpx_text out = {0};
    struct mcpx_slice value;

    must(connection_call(where, call, &answer, &value));
    if (arguments_have(arguments, "--json")) {
        text_compact(&out, value);
        mcpx_text_puts(&out, "\n");
    } else {
        tell(&out, value);
    }
    return output_print(&out, STATUS_OK);
}
