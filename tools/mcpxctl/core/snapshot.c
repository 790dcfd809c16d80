/*
 * snapshot.c - entries in order, and two sorted lists of them for lookups. An envelope is copied
 * into one allocation: the struct, its addressees, then its bytes. Rejected: keeping struct
 * mcpx_envelope itself. It has room for 256 addressees, and a snapshot has many envelopes.
 */
#include "tools/mcpxctl/core/snapshot.h"

#include "lib/base/ident.h"
#include "lib/base/map.h"
#include "lib/base/match.h"
#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include <mcpx/json.h>
#include <mcpx/session.h>

#include <stdlib.h>

/* ---- entries ---- */

struct entry *entry_copy(const struct mcpx_envelope *envelope)
{
    /* Strings of the head are at most as long as their escaped form, outside the payload. */
    size_t bytes = envelope->text.len + (envelope->text.len - envelope->payload.len);
    struct entry *entry =
        malloc(sizeof *entry + envelope->to_count * sizeof *entry->to + bytes);
    char *free_at;

    *entry =
        (struct entry){.to = (struct mcpx_slice *)(entry + 1), .to_count = envelope->to_count};
    free_at = (char *)(entry->to + entry->to_count);
    entry->text = mx_keep(&free_at, envelope->text);
    entry->payload = (struct mcpx_slice){
        entry->text.text + (envelope->payload.text - envelope->text.text),
        envelope->payload.len,
    };
    entry->id = mx_keep(&free_at, envelope->id);
    entry->from = mx_keep(&free_at, envelope->from);
    entry->correlation_id = mx_keep(&free_at, envelope->correlation_id);
    for (size_t i = 0; i < entry->to_count; i++)
        entry->to[i] = mx_keep(&free_at, envelope->to[i]);
    /* It was parsed once already, so it parses. */
    mcpx_kind_parse(mx_keep(&free_at, envelope->kind.text), &entry->kind, NULL);
    entry->at_ms = time_read(envelope->ts);
    return entry;
}

enum mcpx_err entry_new(struct mcpx_slice text, struct mcpx_fault *fault, struct entry **out)
{
    struct mcpx_envelope envelope;
    enum mcpx_err err;

    mcpx_envelope_init(&envelope);
    err = memory_checked(mcpx_envelope_parse(text, 0, &envelope, fault));
    if (!err)
        *out = entry_copy(&envelope);
    mcpx_envelope_fini(&envelope);
    return err;
}

bool entry_is(const struct entry *entry, const char *type)
{
    return mcpx_slice_equal(entry->kind.type, mcpx_slice_of(type));
}

bool entry_answers(const struct entry *entry, const struct entry *request)
{
    struct mcpx_slice asked = request->kind.context, answered = entry->kind.context;
    bool is_asked =
        !request->to_count || mx_id_is_among(entry->from, request->to, request->to_count);

    return entry_is(request, "mcp/request") && is_asked &&
           mcpx_slice_equal(entry->kind.method, request->kind.method) &&
           (!asked.text || !answered.text || mcpx_slice_equal(asked, answered)) &&
           mcpx_json_same(mcpx_json_get(entry->payload, "id"),
                          mcpx_json_get(request->payload, "id"));
}

bool entry_asks(const struct entry *entry)
{
    struct mcpx_slice result = mcpx_json_get(entry->payload, "result");

    return entry_is(entry, "mcp/response") &&
           mcpx_json_equals(mcpx_json_get(result, "resultType"), MCPX_SLICE("input_required"));
}

bool entry_task(const struct entry *entry, const struct entry *request,
                struct mcpx_slice *task)
{
    const char *member = mcpx_rpc_context_member(entry->kind.method);
    bool about = member && strcmp(member, "taskId") == 0;

    *task = mcpx_json_get(entry->payload, "params");
    if (entry_is(entry, "mcp/request"))
        return about;
    about = about && !mcpx_slice_equal(entry->kind.method, MCPX_SLICE("tasks/result"));
    *task = mcpx_json_get(entry->payload, "result");
    if (mcpx_json_equals(mcpx_json_get(*task, "resultType"), MCPX_SLICE("task")) ||
        (about && request && request->goes_on))
        return true;
    *task = mcpx_json_get(*task, "task");
    return task->text && request &&
           mcpx_json_get(mcpx_json_get(request->payload, "params"), "task").text;
}

const char *entry_fault(const struct entry *entry)
{
    static struct mcpx_rpc rpc;

    if (!entry_is(entry, "mcp/request") && !entry_is(entry, "mcp/response") &&
        !entry_is(entry, "mcp/proposal"))
        return NULL;
    if (mcpx_rpc_read(entry->payload, &rpc, NULL) != MCPX_OK)
        return mcpx_violation_text(MCPX_VIOLATION_RPC);
    if (mcpx_rpc_agrees(&rpc, &entry->kind, NULL) != MCPX_OK)
        return mcpx_violation_text(MCPX_VIOLATION_KIND);
    return NULL;
}

int64_t time_read(struct mcpx_slice text)
{
    int64_t ms;

    return mx_time_parse(text, &ms) && ms >= 0 ? ms : -1;
}

/* ---- the stretch ---- */

void snapshot_fini(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++)
        free(snapshot->entries[i]);
    free(snapshot->entries);
    free(snapshot->sorted);
    free(snapshot->related);
    *snapshot = (struct snapshot){.count = 0};
}

void snapshot_add(struct snapshot *snapshot, struct entry *entry)
{
    mx_make_room(&snapshot->entries, snapshot->count, &snapshot->size, sizeof(struct entry *));
    snapshot->entries[snapshot->count++] = entry;
}

void snapshot_reverse(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count / 2; i++) {
        struct entry *entry = snapshot->entries[i];

        snapshot->entries[i] = snapshot->entries[snapshot->count - 1 - i];
        snapshot->entries[snapshot->count - 1 - i] = entry;
    }
}

static int by_id(const void *a, const void *b)
{
    const struct entry *left = *(struct entry *const *)a, *right = *(struct entry *const *)b;

    return mcpx_slice_compare(left->id, right->id);
}

static int by_relation(const void *a, const void *b)
{
    const struct entry *left = *(struct entry *const *)a, *right = *(struct entry *const *)b;
    int order = mcpx_slice_compare(left->correlation_id, right->correlation_id);

    return order ? order : left->index < right->index ? -1 : left->index > right->index;
}

static struct entry **sorted_copy(const struct snapshot *snapshot,
                                  int (*order)(const void *, const void *))
{
    struct entry **copy = malloc((snapshot->count + 1) * sizeof *copy);

    if (snapshot->count > 0)
        memcpy(copy, snapshot->entries, snapshot->count * sizeof *copy);
    qsort(copy, snapshot->count, sizeof *copy, order);
    return copy;
}

/* ---- calls that go on ---- */

/* What an answer has in common with what goes on: the caller, perhaps another instance, and the
 * operation and the server's state, or of a task (`kind` NULL) the server and the id. */
static uint64_t key_of(struct mcpx_slice caller, const struct mcpx_kind *kind,
                       struct mcpx_slice server, struct mcpx_slice object)
{
    mx_scoped_text key =
        mx_formatted("%q%q%q", mcpx_identity_of(caller), kind ? kind->method : server,
                     kind ? kind->context : MCPX_SLICE("\n"));

    mcpx_json_add_unescaped(&key, mcpx_json_get(object, kind ? "requestState" : "taskId"));
    return mx_map_hash((struct mx_map_key){{0}}, mcpx_text_view(&key));
}

/* The last answer under a key counts. */
static void note(struct mx_map *calls, uint64_t key, const struct entry *call)
{
    size_t at = 0;

    mx_map_remove(calls, key, mx_map_next(calls, key, &at));
    mx_map_reserve(calls);
    mx_map_put(calls, key, (uintptr_t)call);
}

/* Notes the call, if its answer says that it goes on: with questions, or as a task. */
static void note_answer(const struct snapshot *snapshot, const struct entry *answer,
                        struct mx_map *calls)
{
    const struct entry *call = snapshot_get(snapshot, answer->correlation_id), *first, *above;
    struct mcpx_slice task = mcpx_json_get(answer->payload, "result");

    if (!call || call->index > answer->index || !entry_answers(answer, call))
        return;
    first = call->goes_on ? snapshot_get(snapshot, call->correlation_id) : call;
    if (entry_asks(answer))
        note(calls, key_of(call->from, &call->kind, answer->from, task), first);
    if (!entry_task(answer, call, &task))
        return;
    note(calls, key_of(call->from, NULL, answer->from, task), first);
    above = snapshot_get(snapshot, first->correlation_id);
    if (above) /* the proposer owns the task, too */
        note(calls, key_of(above->from, NULL, answer->from, task), first);
}

/* Relates a request or notification to the call that it goes on with. */
static void relate(const struct mx_map *calls, struct entry *entry)
{
    struct mcpx_slice params, to = entry->to_count > 0 ? entry->to[0] : MCPX_SLICE("");
    bool is_of_task = entry_task(entry, NULL, &params);
    uint64_t call;
    size_t at = 0;

    if (!entry_is(entry, "mcp/request") || entry->correlation_id.len > 0 ||
        !(is_of_task || mcpx_json_get(params, "requestState").text ||
          mcpx_json_get(params, "inputResponses").text))
        return;
    call = mcpx_json_get(entry->payload, "id").text
               ? key_of(entry->from, is_of_task ? NULL : &entry->kind, to, params)
               : key_of(to, NULL, entry->from, params);
    call = mx_map_next(calls, call, &at);
    if (call) {
        entry->correlation_id = ((struct entry *)(uintptr_t)call)->id;
        entry->goes_on = true;
    }
}

void snapshot_seal(struct snapshot *snapshot)
{
    struct mx_map calls = {0}; /* the first of each that goes on */

    for (size_t i = 0; i < snapshot->count; i++)
        snapshot->entries[i]->index = i;
    snapshot->sorted = sorted_copy(snapshot, by_id);
    for (size_t i = 0; i < snapshot->count; i++)
        if (entry_is(snapshot->entries[i], "mcp/response"))
            note_answer(snapshot, snapshot->entries[i], &calls);
        else
            relate(&calls, snapshot->entries[i]);
    mx_map_fini(&calls);
    snapshot->related = sorted_copy(snapshot, by_relation);
}

/* Returns the number of sorted entries before `id`. */
static size_t place_of(const struct snapshot *snapshot, struct mcpx_slice id)
{
    size_t low = 0, high = snapshot->count, row;

    MX_SEARCH(low, high, row, mcpx_slice_compare(snapshot->sorted[row]->id, id) < 0);
    return low;
}

const struct entry *snapshot_get(const struct snapshot *snapshot, struct mcpx_slice id)
{
    size_t place = place_of(snapshot, id);

    if (place < snapshot->count && mcpx_slice_equal(snapshot->sorted[place]->id, id))
        return snapshot->sorted[place];
    return NULL;
}

struct entry *const *snapshot_beginning(const struct snapshot *snapshot,
                                        struct mcpx_slice word, size_t *count)
{
    size_t place = place_of(snapshot, word), end = place;

    while (end < snapshot->count && snapshot->sorted[end]->id.len >= word.len &&
           memcmp(snapshot->sorted[end]->id.text, word.text, word.len) == 0)
        end++;
    *count = end - place;
    return snapshot->sorted + place;
}

enum mcpx_err snapshot_find(const struct snapshot *snapshot, struct mcpx_slice word,
                            const struct entry **out)
{
    size_t count;
    struct entry *const *found = snapshot_beginning(snapshot, word, &count);

    if (word.len == 0 || count == 0)
        return MCPX_ENOTFOUND;
    if (count > 1 && found[0]->id.len > word.len)
        return MCPX_EDUPLICATE;
    *out = found[0];
    return MCPX_OK;
}

struct entry *const *snapshot_about(const struct snapshot *snapshot, struct mcpx_slice id,
                                    size_t *count)
{
    size_t low = 0, high = snapshot->count, end, row;

    MX_SEARCH(low, high, row,
              mcpx_slice_compare(snapshot->related[row]->correlation_id, id) < 0);
    for (end = low; end < snapshot->count &&
                    mcpx_slice_equal(snapshot->related[end]->correlation_id, id);)
        end++;
    *count = end - low;
    return snapshot->related + low;
}

struct mcpx_slice snapshot_brief(const struct snapshot *snapshot, const struct entry *entry,
                                 size_t least)
{
    size_t place = place_of(snapshot, entry->id), len = least;

    /* Its neighbours. Before the first there is none: place - 1 wraps to SIZE_MAX. */
    for (size_t i = 0; i < 2; i++) {
        size_t other = i == 0 ? place - 1 : place + 1;
        size_t common = other < snapshot->count
                            ? mx_common_len(snapshot->sorted[other]->id, entry->id)
                            : 0;

        len = common >= len ? common + 1 : len;
    }
    while (len < entry->id.len && ((unsigned char)entry->id.text[len] & 0xc0) == 0x80)
        len++;
    return (struct mcpx_slice){entry->id.text, len < entry->id.len ? len : entry->id.len};
}
