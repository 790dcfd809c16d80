/*
 * discover.c - three tools in place of those of all servers: a model finds tools by words, reads
 * one, and calls it by its name. A call becomes the tools/call that it stands for before anything
 * judges it. Rejected: the bridge's own way to the servers, which might judge differently.
 */
#include "tools/mcpx-bridge/expose/state.h"

#include <ctype.h>
#include <strings.h>

/*
 * Words that are read of a query, and bytes of a description; bytes of a name in a result, so that
 * a long one does not take the place of others; tools in a result.
 */
enum { QUERY_WORDS = 16, SEARCHED_MAX = 1024, SHOWN_NAME = 256, LIMIT = 10, LIMIT_MAX = 50 };

static bool is_letter(char byte)
{
    return isalnum((unsigned char)byte) || (unsigned char)byte >= 0x80;
}

struct words {
    struct mcpx_slice all[QUERY_WORDS];
    size_t count;
};

static struct words words_of(struct mcpx_slice query)
{
    struct words words = {.count = 0};

    for (size_t at = 0, len; at < query.len && words.count < QUERY_WORDS; at += len + 1) {
        for (len = 0; at + len < query.len && is_letter(query.text[at + len]);)
            len++;
        words.all[words.count] = (struct mcpx_slice){query.text + at, len};
        words.count += len > 0;
    }
    return words;
}

/*
 * The length of the words that begin a word of a member, a JSON string: long words say more than
 * "the". "readFile" has two words.
 */
static size_t rate(struct mcpx_slice tool, const char *member, const struct words *words)
{
    struct mcpx_slice text = mcpx_json_get(tool, member);
    size_t score = 0;
    unsigned found = 0;

    for (size_t at = 1; at < text.len && at < SEARCHED_MAX; at++) {
        char byte = text.text[at], before = text.text[at - 1];
        bool is_inside = is_letter(before) && text.text[at - 2] != '\\' &&
                         !(isupper((unsigned char)byte) && islower((unsigned char)before));

        for (size_t i = 0; !is_inside && i < words->count; i++) {
            struct mcpx_slice word = words->all[i];

            word.len -= word.len > 3 && word.text[word.len - 1] == 's'; /* "files": "file" */
            if (found >> i & 1 || at + word.len >= text.len ||
                strncasecmp(text.text + at, word.text, word.len) != 0)
                continue;
            found |= 1U << i;
            score += words->all[i].len;
        }
    }
    return score;
}

static void find(struct expose *x, const struct expose_request *request,
                 struct mcpx_slice arguments, struct mcpx_slice tools)
{
    struct {
        struct mcpx_slice tool;
        size_t score;
    } best[LIMIT_MAX + 1]; /* the last one falls out */
    mx_scoped_text own = {0};
    struct mcpx_slice query = room_argument(arguments, "query", &own);
    struct mcpx_text out = mx_formatted("%s", "{\"tools\":[");
    const struct words words = words_of(query);
    int64_t limit = LIMIT, count = 0, kept = 0, at;

    (void)bridge_number(mcpx_json_get(arguments, "limit"), &limit);
    limit = limit < LIMIT_MAX ? limit : LIMIT_MAX;
    MCPX_JSON_EACH(walk, tools) {
        size_t score = (query.len == 0) + 4 * rate(walk.value, "name", &words) +
                       rate(walk.value, "title", &words) +
                       rate(walk.value, "description", &words);

        count += score > 0;
        if (!score || mcpx_json_get(walk.value, "name").len > SHOWN_NAME)
            continue;
        at = kept < limit ? kept++ : limit;
        for (; at > 0 && best[at - 1].score < score; at--)
            best[at] = best[at - 1];
        best[at].tool = walk.value;
        best[at].score = score;
    }
    for (at = 0; at < kept; at++) {
        struct mcpx_slice name = mcpx_json_get(best[at].tool, "name"), about;

        if (out.len + name.len > ROOM_PAGE_BYTES)
            break;
        mcpx_text_reset(&own);
        about = expose_quoted(room_argument(best[at].tool, "description", &own));
        mx_format(&out, "%s{\"name\":%s,\"description\":%q}", at ? "," : "", name,
                  ((struct mcpx_slice){about.text + 1, about.len - 2}));
    }
    mx_format(&out, "],\"left_out\":%s}", count - at);
    room_answer(x, request, out, false);
}

static void describe(struct expose *x, const struct expose_request *request,
                     struct mcpx_slice arguments, struct mcpx_slice tools)
{
    mx_scoped_text own = {0};
    struct mcpx_slice name = room_argument(arguments, "name", &own);

    MCPX_JSON_EACH(walk, tools)
        if (mcpx_json_equals(mcpx_json_get(walk.value, "name"), name)) {
            room_answer(x, request, mx_formatted("%s", walk.value), false);
            return;
        }
    room_refuse(x, request, "there is no tool %s%s", expose_quoted(name),
                name.text ? "" : ": name must be a string, as " ROOM_FIND " has it");
}

/* Makes the call that is meant; false: it is none, and the client knows why. */
static bool make_call(struct expose *x, struct expose_request *request,
                      struct mcpx_slice arguments, struct mcpx_rpc *rpc,
                      struct mcpx_text *text)
{
    const struct mcpx_json_change changes[] = {
        {"name", mcpx_json_get(arguments, "name")},
        {"arguments", mcpx_json_get(arguments, "arguments")}};
    mx_scoped_text params = {0}, own = {0};
    const char *kind;
    bool is_shown;

    /* A user who permits this tool permits those of servers. */
    if (room_tool_find(x, room_argument(arguments, "name", &own), &is_shown, &kind)) {
        room_refuse(x, request, "call %s itself", expose_quoted(mcpx_text_view(&own)));
        return false;
    }
    mcpx_json_add_changed(&params, request->rpc->params, changes, 2);
    bridge_add_with(text, request->rpc->text, "params", &params);
    if (mcpx_json_count_like(arguments, "name") == 1 &&
        mcpx_json_count_like(arguments, "arguments") <= 1 &&
        (!changes[1].value.text || mcpx_json_type(changes[1].value) == MCPX_JSON_OBJECT) &&
        mcpx_rpc_read(mcpx_text_view(text), rpc, NULL) == MCPX_OK) {
        request->rpc = rpc;
        return true;
    }
    room_refuse(x, request, "%s", "name must be a string, and arguments an object");
    return false;
}

enum expose_discovery expose_discover(struct expose *x, struct expose_request *request,
                                      struct mcpx_rpc *rpc, struct mcpx_text *text)
{
    struct mcpx_slice params = request->rpc->params;
    struct mcpx_slice arguments = mcpx_json_get(params, "arguments");
    mx_scoped_text own = {0}, tools = {0};
    struct mcpx_slice name = room_argument(params, "name", &own);

    if (!x->config.discover || !bridge_is_any(name, ROOM_FIND, ROOM_DESCRIBE, ROOM_CALL))
        return EXPOSE_GOES_ON;
    if (bridge_is(name, ROOM_CALL))
        return make_call(x, request, arguments, rpc, text) ? EXPOSE_GOES_ON : EXPOSE_SERVED;
    if (request->may_wait && !expose_is_settled(x, EXPOSE_TOOLS))
        return EXPOSE_WAITS;
    if (!x->was_joined) { /* it would look like a topic without tools */
        room_refuse(x, request, "%s", "the topic cannot be reached");
        return EXPOSE_SERVED;
    }
    mcpx_text_puts(&tools, "[");
    expose_list_add(x, EXPOSE_TOOLS, &tools);
    mcpx_text_puts(&tools, "]");
    (bridge_is(name, ROOM_FIND) ? find : describe)(x, request, arguments,
                                                   mcpx_text_view(&tools));
    return EXPOSE_SERVED;
}
