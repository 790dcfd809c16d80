/*
 * kind_typo.c - how many errors lie between a pattern and a name, and which. The distance is the
 * usual one for typing errors, but that a star stands for any letters at no cost: a pattern that
 * ends in one after "tols" is given its "o" and keeps its star. The table of distances is kept
 * whole, because walking back through it writes the pattern that was meant.
 */
#include "router/policy/kind_typo.h"

#include "lib/core/glob.h"

/*
 * Two letters that changed places are the commonest error, and the surest sign of one. Another
 * number of segments is none: somebody's `mcp/request/x` is another type.
 */
enum { SWAP = 1, EDIT = 2, FAR = 100 };

enum { COMPONENT_MAX = 64, NAME_MAX_LEN = 48 };

/* Those that carry MCP messages come first: theirs are the methods. */
static const char *const types[] = {
    "mcp/request", "mcp/response",     "mcp/proposal", "mcp/reject",  "mcp/withdraw",
    "chat",        "chat/acknowledge", "reasoning/",   "admin/check",
};

enum { TYPES = sizeof types / sizeof *types, TYPES_WITH_METHOD = 3 };

/* Of MCP 2025-11-25, of the versions before it, and of 2026-07-28. */
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
    "notifications/tasks/status",
    "notifications/subscriptions/acknowledged",
};

enum { METHODS = sizeof methods / sizeof *methods };

/* at[i][j]: what it costs to make the first i bytes of the component cover the first j of name. */
struct costs {
    struct mcpx_slice component;
    struct mcpx_slice name;
    size_t at[COMPONENT_MAX + 1][NAME_MAX_LEN + 1];
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool is_same(char a, char b)
{
    return a == b || ((a | 0x20) == (b | 0x20) && (a | 0x20) >= 'a' && (a | 0x20) <= 'z');
}

/* What a byte costs that is too many, or missing. */
static size_t cost_of(char byte)
{
    return byte == '/' ? FAR : EDIT;
}

/* What it costs that the i-th byte of the component stands for the j-th of the name; from 1. */
static size_t cost_of_pair(const struct costs *costs, size_t i, size_t j)
{
    char a = costs->component.text[i - 1], b = costs->name.text[j - 1];

    if (is_same(a, b))
        return 0;
    return a == '/' ? FAR : cost_of(b);
}

static bool is_swapped(const struct costs *costs, size_t i, size_t j)
{
    const char *a = costs->component.text + i, *b = costs->name.text + j;

    return i > 1 && j > 1 && is_same(a[-1], b[-2]) && is_same(a[-2], b[-1]);
}

static void fill_row(struct costs *costs, size_t i)
{
    size_t *row = costs->at[i], *above = costs->at[i - 1];
    char byte = costs->component.text[i - 1];
    bool is_star = byte == '*';
    size_t cost = is_star ? 0 : cost_of(byte);

    row[0] = above[0] + cost;
    for (size_t j = 1; j <= costs->name.len; j++) {
        if (is_star) {
            row[j] = least(above[j], row[j - 1]);
            continue;
        }
        row[j] = least(above[j] + cost, row[j - 1] + cost_of(costs->name.text[j - 1]));
        row[j] = least(row[j], above[j - 1] + cost_of_pair(costs, i, j));
        if (is_swapped(costs, i, j))
            row[j] = least(row[j], costs->at[i - 2][j - 2] + SWAP);
    }
}

static size_t compare(struct costs *costs, struct mcpx_slice component, const char *name)
{
    costs->component = component;
    costs->name = mcpx_slice_of(name);
    costs->at[0][0] = 0;
    for (size_t j = 1; j <= costs->name.len; j++)
        costs->at[0][j] = costs->at[0][j - 1] + cost_of(name[j - 1]);
    for (size_t i = 1; i <= component.len; i++)
        fill_row(costs, i);
    return costs->at[component.len][costs->name.len];
}

/* Walks back through the costs and writes the name where letters stand, `*` where one does. */
static void write_meant(const struct costs *costs, struct mcpx_text *out)
{
    char meant[COMPONENT_MAX + NAME_MAX_LEN];
    size_t i = costs->component.len, j = costs->name.len, at = sizeof meant;

    while (i > 0 || j > 0) {
        size_t cost = costs->at[i][j];

        if (i > 0 && costs->component.text[i - 1] == '*') {
            if (cost == costs->at[i - 1][j])
                meant[--at] = costs->component.text[--i];
            else
                j--;
        } else if (i > 0 && j > 0 &&
                   cost == costs->at[i - 1][j - 1] + cost_of_pair(costs, i, j)) {
            i--;
            meant[--at] = costs->name.text[--j];
        } else if (is_swapped(costs, i, j) && cost == costs->at[i - 2][j - 2] + SWAP) {
            i -= 2;
            meant[--at] = costs->name.text[--j];
            meant[--at] = costs->name.text[--j];
        } else if (i > 0 &&
                   cost == costs->at[i - 1][j] + cost_of(costs->component.text[i - 1])) {
            i--;
        } else {
            meant[--at] = costs->name.text[--j];
        }
    }
    mcpx_text_add(out, meant + at, sizeof meant - at);
}

static bool covers_any(struct mcpx_slice component, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (mx_glob_matches(component, mcpx_slice_of(names[i])))
            return true;
    }
    return false;
}

/* The most that may be put right: in few letters everything is near everything. */
static size_t cost_max(struct mcpx_slice component)
{
    size_t letters = 0;

    for (size_t i = 0; i < component.len; i++)
        letters += component.text[i] != '*';
    if (letters < 4)
        return 0;
    if (letters < 5)
        return SWAP;
    return letters < 12 ? EDIT : 2 * EDIT;
}

/* Appends the component as it was meant. Returns whether that is another one. */
static bool mend(struct mcpx_slice component, const char *const *names, size_t count,
                 struct mcpx_text *out)
{
    struct costs costs;
    size_t best = SIZE_MAX, at = 0;

    if (component.len > COMPONENT_MAX || covers_any(component, names, count)) {
        mcpx_text_slice(out, component);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        size_t cost = compare(&costs, component, names[i]);

        if (cost < best) {
            best = cost;
            at = i;
        }
    }
    if (best > cost_max(component)) {
        mcpx_text_slice(out, component);
        return false;
    }
    compare(&costs, component, names[at]);
    write_meant(&costs, out);
    return true;
}

/* The bytes before the next colon. */
static struct mcpx_slice component_of(struct mcpx_slice text)
{
    const char *colon = memchr(text.text, ':', text.len);

    return (struct mcpx_slice){text.text, colon ? (size_t)(colon - text.text) : text.len};
}

bool kind_typo_mend(struct mcpx_slice pattern, struct mcpx_text *out)
{
    struct mcpx_slice type = component_of(pattern);
    struct mcpx_slice rest = {pattern.text + type.len, pattern.len - type.len};
    size_t start = out->len;
    bool mended = mend(type, types, TYPES, out);
    struct mcpx_slice meant, method;

    if (out->failed)
        return false;
    meant = (struct mcpx_slice){out->text + start, out->len - start};
    if (rest.len > 0 && covers_any(meant, types, TYPES_WITH_METHOD)) {
        mcpx_text_puts(out, ":");
        method = component_of((struct mcpx_slice){rest.text + 1, rest.len - 1});
        mended |= mend(method, methods, METHODS, out);
        rest.text += 1 + method.len;
        rest.len -= 1 + method.len;
    }
    mcpx_text_slice(out, rest);
    return mended && !out->failed;
}
