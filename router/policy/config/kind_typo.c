/*
 * kind_typo.c - compares the components of a pattern with known names, and limits the differences
 * that count as typing errors (lib/base/match.h).
 */
#include "router/policy/config/config.h"

#include "lib/base/digits.h"
#include "lib/base/match.h"
#include "lib/json/json_write.h"

/*
 * Two exchanged letters are the most frequent and the clearest typing error. A name with another
 * number of segments is not an error: `mcp/request/x` is another type.
 */
static const struct mx_typo_costs costs = {
    .edit = 2, .swap = 1, .border = '/', .star = '*', .any_case = true};

/* Types that carry MCP messages come first: only they have methods. */
static const char *const types[] = {
    "mcp/request", "mcp/response",     "mcp/proposal", "mcp/reject",  "mcp/withdraw",
    "chat",        "chat/acknowledge", "reasoning/",   "admin/check",
};

enum { TYPES = sizeof types / sizeof *types, TYPES_WITH_METHOD = 3 };

/* Of MCP 2025-11-25, of the versions before it, and of 2026-07-28; permission/ask is ours. */
static const char *const methods[] = {
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "permission/ask",
    "completion/complete",
    "logging/setLevel",
    "sampling/createMessage",
    "elicitation/create",
    "roots/list",
    "tasks/list",
    "tasks/get",
    "tasks/result",
    "tasks/cancel",
    "tasks/update",
    "server/discover",
    "subscriptions/listen",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/message",
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/prompts/list_changed",
    "notifications/roots/list_changed",
    "notifications/elicitation/complete",
    "notifications/tasks",
    "notifications/tasks/status",
    "notifications/subscriptions/acknowledged",
};

enum { METHODS = sizeof methods / sizeof *methods };

static bool covers_any(struct mcpx_slice component, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (mx_glob_matches(component, mcpx_slice_of(names[i])))
            return true;
    }
    return false;
}

/*
 * The highest cost of a correction. Short names resemble each other, so fewer errors are corrected
 * in them.
 */
static size_t cost_max(struct mcpx_slice component)
{
    size_t letters = 0;

    for (size_t i = 0; i < component.len; i++)
        letters += component.text[i] != '*';
    if (letters < 4)
        return 0;
    if (letters < 5)
        return costs.swap;
    return letters < 12 ? costs.edit : 2 * costs.edit;
}

/* Appends the corrected component. Returns whether it differs. */
static bool mend(struct mcpx_slice component, const char *const *names, size_t count,
                 struct mcpx_text *out)
{
    struct mx_typo typo;
    size_t best = SIZE_MAX, at = 0;
    bool right = component.len > MX_TYPO_WORD_MAX || covers_any(component, names, count);

    for (size_t i = 0; !right && i < count; i++) {
        size_t cost = mx_typo_compare(&typo, &costs, component, mcpx_slice_of(names[i]));

        if (cost < best) {
            best = cost;
            at = i;
        }
    }
    if (best > cost_max(component)) {
        mcpx_text_slice(out, component);
        return false;
    }
    mx_typo_compare(&typo, &costs, component, mcpx_slice_of(names[at]));
    mx_typo_write_meant(&typo, out);
    return true;
}

bool kind_typo_mend(struct mcpx_slice pattern, struct mcpx_text *out)
{
    struct mcpx_slice rest = pattern;
    size_t start = out->len;
    bool mended = mend(mx_cut_at(&rest, ':'), types, TYPES, out);
    struct mcpx_slice meant;

    if (out->failed)
        return false;
    meant = (struct mcpx_slice){out->text + start, out->len - start};
    if (rest.text && covers_any(meant, types, TYPES_WITH_METHOD)) {
        mcpx_text_puts(out, ":");
        mended |= mend(mx_cut_at(&rest, ':'), methods, METHODS, out);
    }
    if (rest.text)
        mx_format(out, ":%s", rest);
    return mended && !out->failed;
}

bool kind_typo_warn(const char *what, struct mcpx_slice pattern, struct mcpx_text *out)
{
    mx_scoped_text meant = {0};
    bool mended = kind_typo_mend(pattern, &meant);

    if (mended)
        mx_format(
            out, "%s \"%s\": covers no known kind; if that is a typing error, \"%s\" is meant",
            what, pattern, &meant);
    out->failed |= meant.failed;
    return mended;
}
