/*
 * ids.c - ids that servers hand out and clients hand back: of tasks, and of questions that are
 * answered elsewhere. Two servers may both begin at "1", so they go through a table like names do,
 * one that forgets its oldest, and are exchanged wherever a message holds them, in both directions.
 */
#include "tools/mcpx-bridge/expose/ids.h"

#include "tools/mcpx-bridge/expose/state.h"

#define RELATED "io.modelcontextprotocol/related-task"

/* Whose ids they are, and whether the text goes back to that participant. */
struct turn {
    struct expose *x;
    struct mcpx_slice participant;
    bool back;
};

/* ---- one id ---- */

static bool find_other(const struct turn *turn, enum expose_space space, struct mcpx_slice id,
                       struct mcpx_slice *out)
{
    struct expose_thing thing = {turn->participant, id};

    if (!turn->back) {
        *out = expose_names_shown(&turn->x->ids, space, &thing);
        return out->text != NULL;
    }
    if (!expose_names_find(&turn->x->ids, space, id, &thing) ||
        !mcpx_slice_equal(thing.participant, turn->participant))
        return false;
    *out = thing.own;
    return true;
}

/* The object with another id in that member; false when it stays as it is. */
static bool turn_member(const struct turn *turn, struct mcpx_slice object, const char *name,
                        struct mcpx_text *out)
{
    bool is_task = strcmp(name, "taskId") == 0;
    struct mcpx_json_change change = {.name = name};
    struct mcpx_text id = {0}, value = {0};
    struct mcpx_slice other;
    bool turned = mcpx_json_type(object) == MCPX_JSON_OBJECT &&
                  mcpx_json_add_unescaped(&id, mcpx_json_get(object, name)) && !id.failed &&
                  find_other(turn, is_task ? EXPOSE_TASK_ID : EXPOSE_ELICITATION_ID,
                             mcpx_text_view(&id), &other) &&
                  !mcpx_slice_equal(mcpx_text_view(&id), other);

    if (turned) {
        mcpx_json_add_string(&value, other);
        change.value = mcpx_text_view(&value);
        mcpx_json_add_changed(out, object, &change, 1);
        out->failed |= value.failed;
    }
    mcpx_text_fini(&id);
    mcpx_text_fini(&value);
    return turned;
}

/* The same one level deeper. */
static bool turn_within(const struct turn *turn, struct mcpx_slice object, const char *outer,
                        struct mcpx_text *out)
{
    struct mcpx_json_change change = {.name = outer};
    struct mcpx_text inner = {0};
    bool turned = turn_member(turn, mcpx_json_get(object, outer), "taskId", &inner);

    if (turned) {
        change.value = mcpx_text_view(&inner);
        mcpx_json_add_changed(out, object, &change, 1);
        out->failed |= inner.failed;
    }
    mcpx_text_fini(&inner);
    return turned;
}

static bool turn_related(const struct turn *turn, struct mcpx_slice object,
                         struct mcpx_text *out)
{
    struct mcpx_slice raw = mcpx_json_get(object, "_meta");
    struct mcpx_json_change change = {.name = "_meta"};
    struct mcpx_text meta = {0};
    bool turned =
        mcpx_json_type(raw) == MCPX_JSON_OBJECT && turn_within(turn, raw, RELATED, &meta);

    if (turned) {
        change.value = mcpx_text_view(&meta);
        mcpx_json_add_changed(out, object, &change, 1);
        out->failed |= meta.failed;
    }
    mcpx_text_fini(&meta);
    return turned;
}

/* ---- a message ---- */

/* What was turned takes the place of what was there. */
static void settle(struct mcpx_text *out, struct mcpx_text *turned, bool is_turned,
                   struct mcpx_slice *now)
{
    if (is_turned) {
        mcpx_text_fini(out);
        *out = *turned;
        *now = mcpx_text_view(out);
        return;
    }
    mcpx_text_fini(turned);
}

static bool turn_all(const struct turn *turn, struct mcpx_slice object, unsigned where,
                     struct mcpx_text *out)
{
    struct mcpx_slice now = object;
    struct mcpx_text next = {0};

    if (mcpx_json_type(object) != MCPX_JSON_OBJECT || !turn->x->ids.count)
        return false;
    settle(out, &next, turn_related(turn, now, &next), &now);
    next = (struct mcpx_text){0};
    if (where & EXPOSE_ID_OF_TASK)
        settle(out, &next, turn_member(turn, now, "taskId", &next), &now);
    next = (struct mcpx_text){0};
    if (where & EXPOSE_ID_IN_TASK)
        settle(out, &next, turn_within(turn, now, "task", &next), &now);
    next = (struct mcpx_text){0};
    if (where & EXPOSE_ID_OF_ELICITATION)
        settle(out, &next, turn_member(turn, now, "elicitationId", &next), &now);
    return now.text != object.text;
}

bool expose_ids_show(struct expose *x, struct mcpx_slice participant, struct mcpx_slice object,
                     unsigned where, struct mcpx_text *out)
{
    return turn_all(&(struct turn){x, participant, false}, object, where, out);
}

bool expose_ids_restore(struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice object, struct mcpx_text *out)
{
    return turn_all(&(struct turn){x, participant, true}, object, 0, out);
}

/* ---- who handed out what ---- */

void expose_ids_note(struct expose *x, struct mcpx_slice participant, enum expose_space space,
                     struct mcpx_slice raw)
{
    struct mcpx_text id = {0};
    struct mcpx_slice shown;

    if (mcpx_json_add_unescaped(&id, raw) && !id.failed && id.len)
        expose_names_put(&x->ids, space,
                         &(struct expose_thing){participant, mcpx_text_view(&id)}, &shown);
    mcpx_text_fini(&id);
}

void expose_ids_note_answer(struct expose *x, const struct expose_call *call,
                            const struct mcpx_rpc *rpc)
{
    struct mcpx_slice participant = mcpx_text_view(&call->participant);
    struct mcpx_slice data = mcpx_json_get(rpc->error, "data");
    struct mcpx_json_walk walk;

    if (mcpx_json_get(mcpx_text_view(&call->params), "task").text)
        expose_ids_note(x, participant, EXPOSE_TASK_ID,
                        mcpx_json_get(mcpx_json_get(rpc->result, "task"), "taskId"));
    /* "Visit these addresses first": the questions are named there. */
    if (!mcpx_slice_equal(mcpx_json_get(rpc->error, "code"), MCPX_SLICE("-32042")))
        return;
    mcpx_json_walk_start(&walk, mcpx_json_get(data, "elicitations"));
    while (mcpx_json_walk_next(&walk))
        expose_ids_note(x, participant, EXPOSE_ELICITATION_ID,
                        mcpx_json_get(walk.value, "elicitationId"));
}

bool expose_ids_owns(const struct expose *x, struct mcpx_slice participant,
                     enum expose_space space, struct mcpx_slice raw)
{
    struct mcpx_text id = {0};
    bool owns = mcpx_json_add_unescaped(&id, raw) && !id.failed &&
                expose_names_shown(&x->ids, space,
                                   &(struct expose_thing){participant, mcpx_text_view(&id)})
                    .text;

    mcpx_text_fini(&id);
    return owns;
}
