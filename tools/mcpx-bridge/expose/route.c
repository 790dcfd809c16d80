/*
 * route.c - finds the owner of the name that a request holds, and the owner's own name. Names of
 * tools, prompts and tasks are looked up. Servers give out URIs in results, too, so a URI that is
 * in no list goes to the participant with the most similar template or resources.
 */
#include "tools/mcpx-bridge/expose/state.h"

#include "lib/base/match.h"

/* A name inside params: the object that holds it, and the member. */
struct holder {
    struct mcpx_slice object;
    const char *member;
};

static bool is_prompt(struct mcpx_slice ref)
{
    return mcpx_json_equals(mcpx_json_get(ref, "type"), MCPX_SLICE("ref/prompt"));
}

/* ---- owners of resources ---- */

/*
 * The template with the longest text before its first expression wins; `best` is that length plus
 * one. Renamed templates do not count: their URIs name the owner.
 */
static void fit_template(const struct expose *x, const struct expose_item *template,
                         struct mcpx_slice uri, struct expose_route *out, size_t *best)
{
    struct mcpx_slice shown = expose_names_shown(&x->names, EXPOSE_URI_TEMPLATE, template);
    size_t fit;

    if (!template->own.len || !mcpx_slice_equal(shown, template->own) ||
        !expose_uri_matches(template->own, uri))
        return;
    fit = expose_uri_literal(template->own) + 1;
    if (fit > *best) {
        out->item = (struct expose_item){template->participant, uri};
        out->rival = (struct mcpx_slice){0};
        *best = fit;
    } else if (fit == *best &&
               !mcpx_slice_equal(out->item.participant, template->participant)) {
        out->rival = template->participant;
    }
}

static bool by_template(const struct expose *x, struct mcpx_slice uri,
                        struct expose_route *out)
{
    size_t best = 0;

    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        mx_scoped_text template = {0};

        MCPX_JSON_EACH(walk, mcpx_text_view(&participant->lists[EXPOSE_TEMPLATES].text)) {
            mcpx_text_reset(&template);
            mcpx_json_add_unescaped(&template, mcpx_json_get(walk.value, "uriTemplate"));
            fit_template(x, &(struct expose_item){participant->id, mcpx_text_view(&template)},
                         uri, out, &best);
        }
    }
    return best > 0;
}

/* Length of the longest beginning that a URI shares with one listed by the participant. */
static size_t likeness(const struct expose_participant *participant, struct mcpx_slice uri)
{
    static const enum expose_list lists[] = {EXPOSE_RESOURCES, EXPOSE_TEMPLATES};
    size_t best = 0;

    for (size_t i = 0; i < 2; i++) {
        MCPX_JSON_EACH(walk, mcpx_text_view(&participant->lists[lists[i]].text)) {
            struct mcpx_slice raw = mcpx_json_get(walk.value, expose_lists[lists[i]].key);
            struct mcpx_slice text = {raw.text + 1, raw.len < 2 ? 0 : raw.len - 2};
            size_t common = raw.len < 2 ? 0 : mx_common_len(text, uri);

            best = common > best ? common : best;
        }
    }
    return best;
}

/* Finds the participant whose resources share the longest beginning with the URI: at least its
 * scheme, and longer than for any other participant. */
static bool by_likeness(const struct expose *x, struct mcpx_slice uri, struct expose_item *out)
{
    const char *colon = memchr(uri.text, ':', uri.len);
    size_t scheme = colon ? (size_t)(colon - uri.text) + 1 : uri.len;
    size_t best = 0;
    bool alone = false;

    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        size_t like = likeness(participant, uri);

        if (like < scheme || like < best)
            continue;
        alone = like > best;
        best = like;
        *out = (struct expose_item){participant->id, uri};
    }
    return alone;
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

/* Finds the only participant with the property `is_so`. */
static bool by_being_alone(const struct expose *x,
                           bool (*is_so)(const struct expose_participant *),
                           struct mcpx_slice own, struct expose_item *out)
{
    size_t count = 0;

    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        if (!is_so(participant))
            continue;
        *out = (struct expose_item){participant->id, own};
        count++;
    }
    return count == 1;
}

static bool has_resources(const struct expose_participant *participant)
{
    return participant->lists[EXPOSE_RESOURCES].text.len ||
           participant->lists[EXPOSE_TEMPLATES].text.len ||
           expose_participant_capability(participant, "resources").text;
}

static bool is_server(const struct expose_participant *participant)
{
    return participant->state == EXPOSE_PARTICIPANT_LISTED && participant->hello.len;
}

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
    return by_template(x, uri, out) || by_being_alone(x, has_resources, uri, &out->item) ||
           by_likeness(x, uri, &out->item);
}

/* ---- owners of names ---- */

static bool find_item(const struct expose *x, const struct mcpx_rpc *rpc,
                      struct mcpx_slice name, struct expose_route *out)
{
    struct mcpx_slice ref = mcpx_json_get(rpc->params, "ref");

    if (bridge_is(rpc->method, "tools/call"))
        return find_name(x, EXPOSE_TOOL_NAME, name, out);
    if (bridge_is(rpc->method, "prompts/get") || is_prompt(ref))
        return find_name(x, EXPOSE_PROMPT_NAME, name, out);
    if (ref.text && find_name(x, EXPOSE_URI_TEMPLATE, name, out))
        return true;
    if (mcpx_json_get(rpc->params, "taskId").text)
        return expose_names_find(&x->ids, EXPOSE_TASK_ID, name, &out->item);
    return find_uri(x, name, out);
}

static struct holder find_holder(const struct mcpx_rpc *rpc)
{
    struct mcpx_slice ref = mcpx_json_get(rpc->params, "ref");

    if (bridge_is(rpc->method, "completion/complete"))
        return (struct holder){ref, is_prompt(ref) ? "name" : "uri"};
    if (bridge_is(rpc->method, "tools/call") || bridge_is(rpc->method, "prompts/get"))
        return (struct holder){rpc->params, "name"};
    if (mcpx_json_get(rpc->params, "taskId").text)
        return (struct holder){rpc->params, "taskId"};
    return (struct holder){rpc->params, "uri"};
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
static bool find(const struct expose *x, const struct mcpx_rpc *rpc, struct expose_route *out)
{
    struct mcpx_slice name = mcpx_text_view(&out->name);
    bool is_task = mcpx_json_get(rpc->params, "taskId").text != NULL;

    return (find_item(x, rpc, name, out) ||
            (x->names.plain && !(is_task && x->config.answers_only) &&
             by_being_alone(x, is_server, name, &out->item))) &&
           (is_task || expose_only_covers(x, out->item.participant, name));
}

enum expose_routing expose_route_find(struct expose *x, const struct mcpx_rpc *rpc,
                                      struct expose_route *out)
{
    struct holder holder = find_holder(rpc);

    if (mcpx_json_count(holder.object, holder.member) != 1 ||
        !mcpx_json_add_unescaped(&out->name, mcpx_json_get(holder.object, holder.member)))
        return EXPOSE_MALFORMED;
    if (!find(x, rpc, out))
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
