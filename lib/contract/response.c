/*
 * response.c - writes response.v1: every response has all members. There are eleven error codes; a
 * tool may name one itself, otherwise its message decides. Versions are SemVer 2.0.0: three
 * numbers, a pre-release, build metadata.
 */
#include "lib/contract/wrap.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"

static bool is_word(char byte)
{
    return mx_is_digit(byte) || mx_is_letter(byte) || byte == '-';
}

/* Skips a number without leading zeros; returns the place behind it, or 0. */
static size_t pass_number(struct mcpx_slice text, size_t at)
{
    size_t begin = at;

    while (at < text.len && mx_is_digit(text.text[at]))
        at++;
    return at == begin || (text.text[begin] == '0' && at > begin + 1) ? 0 : at;
}

/* Skips words with points between them; returns the place behind them, or 0. */
static size_t pass_words(struct mcpx_slice text, size_t at, bool zeros_lead)
{
    for (;; at++) {
        size_t begin = at;
        bool is_number = true;

        for (; at < text.len && is_word(text.text[at]); at++)
            is_number = is_number && mx_is_digit(text.text[at]);
        if (at == begin ||
            (is_number && !zeros_lead && text.text[begin] == '0' && at > begin + 1))
            return 0;
        if (at == text.len || text.text[at] != '.')
            return at;
    }
}

bool mx_is_semver(struct mcpx_slice text)
{
    size_t at = pass_number(text, 0);

    for (int i = 0; i < 2 && at > 0; i++)
        at = at < text.len && text.text[at] == '.' ? pass_number(text, at + 1) : 0;
    if (at > 0 && at < text.len && text.text[at] == '-')
        at = pass_words(text, at + 1, false);
    if (at > 0 && at < text.len && text.text[at] == '+')
        at = pass_words(text, at + 1, true);
    return at > 0 && at == text.len;
}

/* Code points of the message, of a tool's own code, and of the id of the call. */
enum { MESSAGE_MAX = 300, CODE_MAX = 200, ID_MAX = 200 };

static const char *const codes[] = {
    "invalid_argument",
    "invalid_path",
    "forbidden",
    "not_found",
    "timeout",
    "too_large",
    "resource_exhausted",
    "not_implemented",
    "upgrade_required",
    "dependency_unavailable",
    "internal_error",
};

/* Phrases of messages, in lower case; the first match counts. */
static const struct {
    const char *phrase;
    const char *code;
} phrases[] = {
    {"file not found", "not_found"},
    {"no such file", "not_found"},
    {"not a file", "invalid_argument"},
    {"must be", "invalid_argument"},
    {"cannot be empty", "invalid_argument"},
    {"invalid path", "invalid_path"},
    {"path traversal", "invalid_path"},
    {"permission", "forbidden"},
    {"forbidden", "forbidden"},
    {"timeout", "timeout"},
    {"timed out", "timeout"},
    {"too large", "too_large"},
    {"exceeds maximum", "too_large"},
    {"not implemented", "not_implemented"},
    {"requires pro", "upgrade_required"},
    {"requires enterprise", "upgrade_required"},
    {"upgrade:", "upgrade_required"},
};

static bool says(struct mcpx_slice text, const char *phrase)
{
    size_t len = strlen(phrase);

    for (size_t at = 0; at + len <= text.len; at++)
        if (mx_same_word((struct mcpx_slice){text.text + at, len}, phrase))
            return true;
    return false;
}

static const char *code_of_words(struct mcpx_slice message)
{
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        if (says(message, phrases[i].phrase))
            return phrases[i].code;
    }
    return "internal_error";
}

/* The code equal to a value, of the eleven; NULL when there is none. */
static const char *code_of(struct mcpx_slice value)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (mcpx_json_equals(value, mcpx_slice_of(codes[i])))
            return codes[i];
    }
    return NULL;
}

/* A tool's own words about its failure. */
struct statement {
    const char *known;         /* one of the eleven codes; NULL: none */
    struct mcpx_slice own;     /* the first other code, a JSON string; absent: none */
    struct mcpx_slice message; /* a JSON string; absent: none */
};

static void hear_code(struct statement *out, struct mcpx_slice value)
{
    const char *known = code_of(value);

    if (mcpx_json_type(value) != MCPX_JSON_STRING || value.len == 2)
        return;
    if (!known && !out->own.text)
        out->own = value;
    if (known && !out->known)
        out->known = known;
}

static void hear_message(struct statement *out, struct mcpx_slice value)
{
    if (!out->message.text && mcpx_json_type(value) == MCPX_JSON_STRING)
        out->message = value;
}

static struct statement hear(struct mcpx_slice value)
{
    struct statement out = {NULL, {NULL, 0}, {NULL, 0}};
    struct mx_error_walk walk = {.value = value};
    struct mcpx_slice at;

    hear_message(&out, mcpx_json_get(value, "error"));
    while (mx_error_walk_next(&walk, &at)) {
        hear_code(&out, mcpx_json_get(at, "code"));
        hear_code(&out, mcpx_json_get(at, "error_code"));
        hear_message(&out, mcpx_json_get(at, "message"));
    }
    return out;
}

/* Appends the tool's own code, unless it is more than a word or repeats the arguments. */
static void add_tool_code(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                          const struct mx_answer *answer, struct mcpx_slice own)
{
    struct mcpx_slice line;

    if (!own.text)
        return;
    line = mx_first_line(wrapper, own);
    if (line.len > 0 && !mx_repeats_arguments(wrapper, answer, line, CODE_MAX))
        mcpx_json_add_member(out, "tool_code", mx_cut(line, CODE_MAX));
}

static void add_error(struct mcpx_text *out, struct mcpx_wrapper *wrapper,
                      const struct mx_answer *answer)
{
    bool is_tools = answer->failure && answer->failure->cause == MCPX_CAUSE_FAILED;
    struct mcpx_slice none = {NULL, 0};
    struct statement statement = hear(is_tools ? answer->value : none);
    mx_scoped_text details = {0};
    struct mcpx_slice line;
    const char *code = statement.known;

    if (!answer->failure) {
        mcpx_text_puts(out, ",\"error\":null");
        return;
    }
    line = statement.message.text ? mx_first_line(wrapper, statement.message)
                                  : mx_reason(wrapper, answer);
    if (!code)
        code = is_tools ? code_of_words(line) : mcpx_cause_in_response(answer->failure->cause);
    mcpx_text_puts(out, ",\"error\":{\"error\":");
    mx_reason_add(out, wrapper, answer, line, MESSAGE_MAX);
    mx_reason_details(&details, answer->failure);
    add_tool_code(&details, wrapper, answer, statement.own);
    mx_format(out, ",\"error_code\":%q,\"error_details\":", code);
    mx_format(out, details.len > 0 ? "{%s}}" : "null%s}", &details);
}

static void add_capabilities(struct mcpx_text *out, struct mcpx_slice more)
{
    mcpx_text_puts(out, ",\"capabilities\":[\"envelope-v1\"");
    MCPX_JSON_EACH_WHILE(mcpx_json_type(more) == MCPX_JSON_ARRAY, walk, more) {
        if (mcpx_json_type(walk.value) == MCPX_JSON_STRING)
            mx_format(out, ",%s", walk.value);
    }
    mcpx_text_puts(out, "]");
}

static void add_hints(struct mcpx_text *out, const struct mx_answer *answer)
{
    const char *tier = mcpx_tier_name(answer->call->needed);

    if (!answer->failure || answer->failure->cause != MCPX_CAUSE_TIER)
        mcpx_text_puts(out, ",\"upgrade_hints\":[]");
    else
        mx_format(out,
                  ",\"upgrade_hints\":[{\"feature\":%q,\"tier\":%q,"
                  "\"reason\":\"tool requires tier %s\"}]",
                  answer->call->tool, tier, tier);
}

void mx_response_compose(struct mcpx_wrapper *wrapper, const struct mx_answer *answer)
{
    const struct mcpx_wrap *call = answer->call;
    struct mcpx_slice version = MCPX_SLICE("0.0.0"), null = MCPX_SLICE("null");
    struct mcpx_text *out = &wrapper->envelope;

    if (mx_is_semver(call->tool_version))
        version = call->tool_version;
    else if (mx_is_semver(call->server_version))
        version = call->server_version;
    mcpx_text_reset(out);
    mx_format(out, "{\"tier\":%q,\"tool_version\":%q,\"tool_id\":%q,\"request_id\":%q",
              mcpx_tier_name(call->tier), version, call->tool,
              mx_cut(call->request_id, ID_MAX));
    add_capabilities(out, call->capabilities);
    mx_format(out, ",\"duration_ms\":%s", call->duration_ms > 0 ? call->duration_ms : 0);
    add_error(out, wrapper, answer);
    add_hints(out, answer);
    mx_format(out, ",\"data\":%s}", answer->value.text ? answer->value : null);
}
