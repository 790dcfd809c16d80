/*
 * ids.c - ids of tasks, and of elicitations that a person answers at a URL. Servers give them out
 * and clients send them back; two servers may both begin at "1". So the table of names translates
 * the ids in messages, in both directions. It forgets its oldest ids. Where the bridge has several
 * clients, an id of a task is shown with 128 random bits: no other client can guess it.
 */
#include "tools/mcpx-bridge/expose/state.h"

#include "lib/base/ident.h"

/* The owner of the ids. `back`: the message goes to that participant. */
struct translation {
    struct expose *x;
    struct mcpx_slice participant;
    bool back;
};

/* ---- one id ---- */

static bool translate_id(const struct translation *t, enum expose_space space,
                         struct mcpx_slice raw, struct mcpx_text *out)
{
    struct expose_item item = {.participant = t->participant};
    struct mcpx_slice other = {0};
    mx_scoped_text id = {0};

    if (!mcpx_json_add_unescaped(&id, raw))
        return false;
    item.own = mcpx_text_view(&id);
    if (!t->back)
        other = expose_names_shown(&t->x->names, space, &item);
    else if (expose_names_find(&t->x->names, space, mcpx_text_view(&id), &item) &&
             mcpx_slice_equal(item.participant, t->participant))
        other = item.own;
    if (!other.text || mcpx_slice_equal(mcpx_text_view(&id), other))
        return false;
    mcpx_json_add_string(out, other);
    return true;
}

/* ---- a message ---- */

/* A place of an id in messages: the path of members to it. `where` 0: in any message. */
struct place {
    unsigned where;
    enum expose_space space;
    const char *path[4];
};

static const struct place places[] = {
    {0, EXPOSE_TASK_ID, {"_meta", "io.modelcontextprotocol/related-task", "taskId"}},
    {EXPOSE_ID_OF_TASK, EXPOSE_TASK_ID, {"taskId"}},
    {EXPOSE_ID_IN_TASK, EXPOSE_TASK_ID, {"task", "taskId"}},
    {EXPOSE_ID_OF_ELICITATION, EXPOSE_ELICITATION_ID, {"elicitationId"}},
};

/* Appends the value with its id translated; path[down] is the next member. False: unchanged. */
static bool translate_place(const struct translation *t, const struct place *place,
                            size_t down, struct mcpx_slice value, struct mcpx_text *out)
{
    const char *member = place->path[down];
    mx_scoped_text inner = {0};
    bool translated;

    if (!member)
        return translate_id(t, place->space, value, out);
    translated = translate_place(t, place, down + 1, mcpx_json_get(value, member), &inner);
    if (translated)
        bridge_add_with(out, value, member, &inner);
    return translated;
}

struct mcpx_slice expose_ids_show(struct expose *x, struct mcpx_slice participant,
                                  struct mcpx_slice object, unsigned where,
                                  struct mcpx_text *scratch)
{
    const struct translation t = {x, participant, where & EXPOSE_IDS_BACK};
    const struct expose_names *names = &x->names;
    bool has_ids = names->held[EXPOSE_TASK_ID].held ||
                   names->held[EXPOSE_ELICITATION_ID].held || names->gone.held;

    for (size_t i = 0; has_ids && i < sizeof places / sizeof places[0]; i++) {
        struct mcpx_text next = {0};

        if ((places[i].where && !(places[i].where & where)) ||
            !translate_place(&t, &places[i], 0, object, &next))
            continue;
        mcpx_text_fini(scratch);
        *scratch = next;
        object = mcpx_text_view(scratch);
    }
    return object;
}

/* ---- owners of ids ---- */

struct bridge_call *expose_ids_task(const struct expose *x, struct mcpx_slice id)
{
    struct bridge_call *call = x->calls.first;

    while (call && !(call->task && mcpx_slice_equal(mcpx_text_view(&call->sent_in), id)))
        call = call->next;
    return call;
}

enum { ID_MAX = 512 }; /* bytes of an id; longer ones have no owner */

void expose_ids_note(struct expose *x, struct mcpx_slice participant, enum expose_space space,
                     struct mcpx_slice raw)
{
    mx_scoped_text id = {0};
    struct mcpx_slice shown;
    unsigned char random[16];
    char secret[1 + 2 * sizeof random + 1] = "-";

    if (!mcpx_json_add_unescaped(&id, raw) || !id.len || id.len > ID_MAX)
        return;
    if (space == EXPOSE_TASK_ID &&
        (x->config.answers_only || expose_ids_task(x, mcpx_text_view(&id)) ||
         room_log_find(&x->room.log, mcpx_text_view(&id)))) {
        x->view.chance(x->view.user, random, sizeof random);
        mx_hex_format(random, sizeof random, secret + 1);
        x->names.secret = mcpx_slice_of(secret);
    }
    expose_names_renew(&x->names, space, participant);
    expose_names_put(&x->names, space, &(struct expose_item){participant, mcpx_text_view(&id)},
                     &shown);
    x->names.secret = (struct mcpx_slice){0};
}

bool expose_ids_is_task(const struct bridge_call *call, struct mcpx_slice result)
{
    return bridge_is(call->method, "tools/call") &&
           bridge_is(mcpx_json_get(result, "resultType"), "\"task\"");
}

void expose_ids_note_answer(struct expose *x, const struct bridge_call *call,
                            const struct mcpx_rpc *rpc)
{
    struct mcpx_slice participant = call->who.id;
    struct mcpx_slice data = mcpx_json_get(rpc->error, "data");

    if (expose_ids_is_task(call, rpc->result))
        expose_ids_note(x, participant, EXPOSE_TASK_ID, mcpx_json_get(rpc->result, "taskId"));
    else if (mcpx_json_get(call->params, "task").text)
        expose_ids_note(x, participant, EXPOSE_TASK_ID,
                        mcpx_json_get(mcpx_json_get(rpc->result, "task"), "taskId"));
    /* The error "visit these addresses first": its data names the questions. */
    if (!bridge_is(mcpx_json_get(rpc->error, "code"), "-32042"))
        return;
    MCPX_JSON_EACH(walk, mcpx_json_get(data, "elicitations"))
        expose_ids_note(x, participant, EXPOSE_ELICITATION_ID,
                        mcpx_json_get(walk.value, "elicitationId"));
}

bool expose_ids_owns(const struct expose *x, struct mcpx_slice participant,
                     enum expose_space space, struct mcpx_slice raw)
{
    mx_scoped_text id = {0};

    return mcpx_json_add_unescaped(&id, raw) &&
           expose_names_shown(&x->names, space,
                              &(struct expose_item){participant, mcpx_text_view(&id)})
               .text;
}
