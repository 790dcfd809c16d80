/*
 * route.c - finds the owner of the name that a request holds, and the owner's own name. Names of
 * tools, prompts and tasks are looked up. Servers give out URIs in results, too, so a URI that is
 * in no list goes to the participant with the most similar template or resources.
 */
#include "tools/mcpx-bridge/expose/state.h"

#include "lib/base/match.h"

/* A name inside params: the object that holds it, the member, and what it names. */
struct holder {
    struct mcpx_slice object;
    const char *member;
    enum expose_space space;
};

/* ---- owners of what is in no list ---- */

/*
 * One more than the length of the text before the first expression of its best template; 0: none
 * fits. Renamed templates do not count: their URIs name the owner.
 */
static size_t template_of(const struct expose *x, const struct expose_participant *participant,
                          struct mcpx_slice uri)
{
    mx_scoped_text own = {0};
    size_t best = 0;

    MCPX_JSON_EACH(walk, mcpx_text_view(&participant->lists[EXPOSE_TEMPLATES].text)) {
        struct expose_item item = {.participant = participant->id};
        struct mcpx_slice shown;

        mcpx_text_reset(&own);
        mcpx_json_add_unescaped(&own, mcpx_json_get(walk.value, "uriTemplate"));
        item.own = mcpx_text_view(&own);
        shown = expose_names_shown(&x->names, EXPOSE_URI_TEMPLATE, &item);
        if (own.len && mcpx_slice_equal(shown, item.own) &&
            expose_uri_matches(item.own, uri) && expose_uri_literal(item.own) >= best)
            best = expose_uri_literal(item.own) + 1;
    }
    return best;
}

/* Length of the longest beginning that the URI shares with a listed one: its scheme at least. */
static size_t likeness(const struct expose_participant *participant, struct mcpx_slice uri)
{
    static const enum expose_list lists[] = {EXPOSE_RESOURCES, EXPOSE_TEMPLATES};
    const char *colon = memchr(uri.text, ':', uri.len);
    size_t scheme = colon ? (size_t)(colon - uri.text) + 1 : uri.len, best = 0;

    for (size_t i = 0; i < 2; i++) {
        MCPX_JSON_EACH(walk, mcpx_text_view(&participant->lists[lists[i]].text)) {
            struct mcpx_slice raw = mcpx_json_get(walk.value, expose_lists[lists[i]].key);
            struct mcpx_slice text = {raw.text + 1, raw.len < 2 ? 0 : raw.len - 2};
            size_t common = raw.len < 2 ? 0 : mx_common_len(text, uri);

            best = common > best ? common : best;
        }
    }
    return best < scheme ? 0 : best;
}

enum property { TEMPLATE, RESOURCES, LIKENESS, SERVER };

/* How much a participant has of a property; 0: nothing. */
static size_t measure(const struct expose *x, const struct expose_participant *participant,
                      enum property property, struct mcpx_slice uri)
{
    switch (property) {
    case TEMPLATE:
        return template_of(x, participant, uri);
    case LIKENESS:
        return likeness(participant, uri);
    case RESOURCES:
        return participant->lists[EXPOSE_RESOURCES].text.len ||
               participant->lists[EXPOSE_TEMPLATES].text.len ||
               expose_participant_capability(participant, "resources").text;
    default:
        return participant->state == EXPOSE_PARTICIPANT_LISTED && participant->hello.len;
    }
}

/*
 * Finds the participant with most of a property. Where another one has as much, it is the rival by
 * its template; else none is found.
 */
static bool find_most(const struct expose *x, enum property property, struct mcpx_slice own,
                      struct expose_route *out)
{
    struct mcpx_slice rival = {0};
    size_t most = 0;

    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        size_t has = measure(x, participant, property, own);

        if (!has || has < most)
            continue;
        rival = has == most ? participant->id : (struct mcpx_slice){0};
        if (has > most)
            out->item = (struct expose_item){participant->id, own};
        most = has;
    }
    out->rival = property == TEMPLATE ? rival : (struct mcpx_slice){0};
    return most > 0 && (property == TEMPLATE || !rival.text);
}

static bool by_wrapping(const struct expose *x, struct mcpx_slice uri,
                        struct expose_route *out)
{
    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        if (!expose_uri_unwrap(&out->own, participant->id, uri))
            continue;
        out->item = (struct expose_item){participant->id, mcpx_text_view(&out->own)};
        return true;
    }
    return false;
}

/* ---- owners of names ---- */

/* Finds the owner of a shown name, or two rivals with the same own name. */
static bool find_name(const struct expose *x, enum expose_space space, struct mcpx_slice name,
                      struct expose_route *out)
{
    out->space = space;
    if (expose_names_find(&x->names, space, name, &out->item))
        return true;
    out->item.own = name;
    return expose_names_rivals(&x->names, space, name, &out->item.participant, &out->rival);
}

static bool find_uri(const struct expose *x, struct mcpx_slice uri, struct expose_route *out)
{
    if (!uri.len)
        return false;
    if (find_name(x, EXPOSE_URI, uri, out))
        return true;
    if (expose_uri_is_wrapped(uri))
        return by_wrapping(x, uri, out);
    return find_most(x, TEMPLATE, uri, out) || find_most(x, RESOURCES, uri, out) ||
           find_most(x, LIKENESS, uri, out);
}

static struct holder find_holder(const struct mcpx_rpc *rpc)
{
    const char *member = mcpx_rpc_context_member(rpc->method);
    struct mcpx_slice ref = mcpx_json_get(rpc->params, "ref");
    bool is_prompt = mcpx_json_equals(mcpx_json_get(ref, "type"), MCPX_SLICE("ref/prompt"));
    bool is_tool = bridge_is(rpc->method, "tools/call");

    if (!member || *member == 'u')
        return (struct holder){rpc->params, "uri", EXPOSE_URI};
    if (*member == 't')
        return (struct holder){rpc->params, "taskId", EXPOSE_TASK_ID};
    if (*member == 'n')
        return (struct holder){rpc->params, "name",
                               is_tool ? EXPOSE_TOOL_NAME : EXPOSE_PROMPT_NAME};
    return is_prompt ? (struct holder){ref, "name", EXPOSE_PROMPT_NAME}
                     : (struct holder){ref, "uri", EXPOSE_URI_TEMPLATE};
}

/* Appends the params with the participant's own name in place of the client's. */
static void write_params(const struct mcpx_rpc *rpc, const struct holder *holder,
                         struct mcpx_slice own, struct mcpx_text *out)
{
    mx_scoped_text ref = {0};

    if (mcpx_json_equals(mcpx_json_get(holder->object, holder->member), own)) {
        mcpx_text_slice(out, rpc->params);
    } else if (holder->object.text == rpc->params.text) {
        bridge_add_with_string(out, rpc->params, holder->member, own);
    } else {
        bridge_add_with_string(&ref, holder->object, holder->member, own);
        bridge_add_with(out, rpc->params, "ref", &ref);
    }
}

/*
 * With plain names, requests for unlisted names go to the topic's only server as well, so that the
 * client gets the server's own error. With prefixed names, every tool would have a second name.
 * Names that --only leaves out are not found. Task ids are found: --only covered their calls. Among
 * several clients, no client gets at a task by the server's own id.
 */
static bool find(const struct expose *x, enum expose_space space, struct expose_route *out)
{
    struct mcpx_slice name = mcpx_text_view(&out->name);
    bool is_task = space == EXPOSE_TASK_ID;
    bool is_uri = space == EXPOSE_URI || space == EXPOSE_URI_TEMPLATE;

    return (find_name(x, space, name, out) || (is_uri && find_uri(x, name, out)) ||
            (x->names.plain && !(is_task && x->config.answers_only) &&
             find_most(x, SERVER, name, out))) &&
           (is_task || expose_only_covers(x, out->item.participant, name));
}

enum expose_routing expose_route_find(struct expose *x, const struct mcpx_rpc *rpc,
                                      struct expose_route *out)
{
    struct holder holder = find_holder(rpc);

    if (mcpx_json_count(holder.object, holder.member) != 1 ||
        !mcpx_json_add_unescaped(&out->name, mcpx_json_get(holder.object, holder.member)))
        return EXPOSE_MALFORMED;
    if (!find(x, holder.space, out))
        return EXPOSE_UNKNOWN;
    write_params(rpc, &holder, out->item.own, &out->params);
    if (out->rival.text)
        return EXPOSE_AMBIGUOUS;
    out->owner = expose_catalog_find(&x->catalog, out->item.participant);
    return out->owner ? EXPOSE_ROUTED : EXPOSE_ABSENT;
}

void expose_route_fini(struct expose_route *route)
{
    mcpx_text_fini(&route->name);
    mcpx_text_fini(&route->own);
    mcpx_text_fini(&route->params);
}
