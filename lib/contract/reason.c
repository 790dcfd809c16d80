/*
 * reason.c - composes the reason of a failed call: one line for a person or a model, without values
 * of arguments. Of a server's text only the first line is used, because stack traces follow it.
 */
#include "lib/contract/wrap.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "lib/json/number.h"
#include "lib/json/tree.h"

/* Least bytes of a line to be compared, most bytes compared, and the limit of comparisons: beyond
 * it, the message is withheld. */
enum { LINE_MIN = 12, LINE_MAX = 256, WORK_MAX = 8 * 1000 * 1000 };

struct mcpx_slice mx_cut(struct mcpx_slice text, size_t points)
{
    size_t at = 0;

    for (; at < text.len; at++) {
        bool begins = ((unsigned char)text.text[at] & 0xc0) != 0x80;

        if (begins && points-- == 0)
            break;
    }
    text.len = at;
    return text;
}

bool mx_error_walk_next(struct mx_error_walk *walk, struct mcpx_slice *out)
{
    if (walk->step == 0)
        mcpx_json_walk_start(&walk->items, mcpx_json_get(walk->value, "errors"));
    if (walk->step < 2) {
        *out = walk->step == 0 ? walk->value : mcpx_json_get(walk->value, "error");
        walk->step++;
        return true;
    }
    if (!mcpx_json_walk_next(&walk->items))
        return false;
    *out = walk->items.value;
    return true;
}

static struct mcpx_slice first_line(struct mcpx_slice text)
{
    struct mcpx_slice line = mx_cut_at(&text, '\n');

    return mx_cut_at(&line, '\r');
}

struct mcpx_slice mx_first_line(struct mcpx_wrapper *wrapper, struct mcpx_slice string)
{
    mcpx_text_reset(&wrapper->line);
    mcpx_json_add_unescaped(&wrapper->line, string);
    wrapper->failed |= wrapper->line.failed;
    return first_line(mcpx_text_view(&wrapper->line));
}

/* Sentences about causes; other causes have the message of their code. */
static const char *const sentences[MCPX_CAUSE_COUNT] = {
    [MCPX_CAUSE_INPUT_SIZE] = "Arguments of the call are too large.",
    [MCPX_CAUSE_OUTPUT_SIZE] = "Result of the tool is too large.",
    [MCPX_CAUSE_FAILED] = "Tool execution failed.",
    [MCPX_CAUSE_TIMEOUT] = "Tool did not answer in time.",
    [MCPX_CAUSE_UNAVAILABLE] = "Tool is not available.",
    [MCPX_CAUSE_EXHAUSTED] = "Too many calls are under way.",
    [MCPX_CAUSE_SCHEMA] = "Schema of the tool cannot be used.",
};

static void add_sentence(struct mcpx_text *out, const struct mx_answer *answer)
{
    const struct mcpx_failure *failure = answer->failure;
    const char *message = mcpx_code_message(mcpx_cause_code(failure->cause));

    if (failure->text.len > 0)
        mcpx_text_slice(out, first_line(failure->text));
    else if (failure->expected.text && failure->path.len > 0)
        mx_format(out, "%s: %s %s", message, failure->path, failure->expected);
    else if (failure->expected.text)
        mx_format(out, "%s: %s", message, failure->expected);
    else if (failure->cause == MCPX_CAUSE_TIER)
        mx_format(out, "tool requires tier %s", mcpx_tier_name(answer->call->needed));
    else if (failure->cause == MCPX_CAUSE_FAILED && failure->exit_code != 0)
        mx_format(out, "Tool execution failed with exit code %s.", failure->exit_code);
    else if (failure->cause == MCPX_CAUSE_FAILED && failure->signal != 0)
        mx_format(out, "Tool execution failed with signal %s.", failure->signal);
    else
        mcpx_text_puts(out, sentences[failure->cause] ? sentences[failure->cause] : message);
}

struct mcpx_slice mx_reason(struct mcpx_wrapper *wrapper, const struct mx_answer *answer)
{
    const struct mcpx_failure *failure = answer->failure;
    struct mcpx_slice message = mcpx_json_get(failure->error, "message");

    if (failure->cause == MCPX_CAUSE_FAILED && answer->said.text)
        return mx_first_line(wrapper, answer->said);
    if (failure->cause == MCPX_CAUSE_FAILED && mcpx_json_type(message) == MCPX_JSON_STRING)
        return mx_first_line(wrapper, message);
    mcpx_text_reset(&wrapper->line);
    add_sentence(&wrapper->line, answer);
    wrapper->failed |= wrapper->line.failed;
    return mcpx_text_view(&wrapper->line);
}

/* The beginning of a line, without blanks around it unless too little would be left. */
static struct mcpx_slice to_find(struct mcpx_slice line)
{
    struct mcpx_slice rest = mx_trim(line, " \t\r\f\v");

    if (rest.len < LINE_MIN)
        rest = line;
    rest.len = rest.len > LINE_MAX ? LINE_MAX : rest.len;
    return rest;
}

/* True when the text has `part` beginning within `window`, or the work is used up. */
static bool holds(struct mcpx_slice text, size_t window, struct mcpx_slice part,
                  uint64_t *work)
{
    for (size_t at = 0; at < window && at + part.len <= text.len; at++) {
        if (*work == 0 || memcmp(text.text + at, part.text, part.len) == 0)
            return true;
        --*work;
    }
    return false;
}

/* True when the text has one of the string's lines. */
static bool repeats_lines(struct mcpx_slice text, size_t window, struct mcpx_slice string,
                          uint64_t *work)
{
    if (!memchr(string.text, '\n', string.len))
        return false;
    while (string.len > 0) {
        struct mcpx_slice line = to_find(mx_cut_at(&string, '\n'));

        if (line.len >= LINE_MIN && holds(text, window, line, work))
            return true;
    }
    return false;
}

bool mx_repeats_arguments(struct mcpx_wrapper *wrapper, const struct mx_answer *answer,
                          struct mcpx_slice line, size_t points)
{
    struct mx_tree *tree = &wrapper->arguments;
    size_t window = mx_cut(line, points).len;
    uint64_t work = WORK_MAX;
    enum mcpx_err err;

    if (!answer->call->arguments.text || line.len < LINE_MIN)
        return false;
    err = mx_tree_read(tree, answer->call->arguments, NULL);
    wrapper->failed |= err == MCPX_ENOMEM;
    for (uint32_t node = 0; !err && node < tree->count; node++) {
        /* a line break is always escaped */
        if (mx_tree_type(tree, node) != MCPX_JSON_STRING || !tree->nodes[node].escaped)
            continue;
        mcpx_text_reset(&wrapper->string);
        mx_tree_unescape(tree, node, &wrapper->string);
        wrapper->failed |= wrapper->string.failed;
        if (wrapper->failed ||
            repeats_lines(line, window, mcpx_text_view(&wrapper->string), &work))
            return true;
    }
    return err != MCPX_OK;
}

void mx_reason_add(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                   const struct mx_answer *answer, struct mcpx_slice line, size_t points)
{
    if (mx_repeats_arguments(wrapper, answer, line, points))
        line = MCPX_SLICE("Tool failed");
    else if (line.len == 0)
        line = MCPX_SLICE("unspecified error");
    mcpx_json_add_string(out, mx_cut(line, points));
}

void mx_reason_details(struct mcpx_text *out, const struct mcpx_failure *failure)
{
    struct mcpx_slice code = mcpx_json_get(failure->error, "code");
    int64_t number;

    if (failure->cause != MCPX_CAUSE_FAILED) {
        const char *name = mcpx_code_name(mcpx_cause_code(failure->cause));

        mcpx_json_add_member(out, "canonical_code", mcpx_slice_of(name));
    }
    if (failure->expected.text)
        mcpx_json_add_member(out, "path", failure->path);
    if (failure->exit_code != 0)
        mx_json_add_number(out, "exit_code", failure->exit_code);
    if (failure->signal != 0)
        mx_json_add_number(out, "signal", failure->signal);
    if (mcpx_json_type(code) == MCPX_JSON_NUMBER && mx_number_small(code, &number))
        mx_json_add_number(out, "jsonrpc_code", number);
}
