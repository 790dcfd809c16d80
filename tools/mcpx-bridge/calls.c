/*
 * calls.c - calls under way, in a list in the order of coming and a table by number; and their two
 * checks under contract settings. A draft's tag is the number, not the address: an answer may still
 * be on its way through the session when its call is given up, and an unknown number is harmless
 * where an address would not be.
 */
#include "tools/mcpx-bridge/calls.h"

#include "lib/json/json_write.h"
#include "tools/common/input.h"
#include "tools/mcpx-bridge/bridge.h"

#include <mcpx/envelope.h>
#include <mcpx/json.h>

/* The slices that a call has copies of, besides the id of its participant. */
enum { TEXTS = sizeof((struct bridge_call *)NULL)->texts / sizeof(struct mcpx_slice) };
_Static_assert(offsetof(struct bridge_call, texts) + TEXTS * sizeof(struct mcpx_slice) ==
                   offsetof(struct bridge_call, modern),
               "texts has all slices");

/* Hashes the number: consecutive numbers would form one run, and a lookup would scan all of it. */
static uint64_t hash_of(int64_t number)
{
    return (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);
}

struct bridge_holder *bridge_calls_holder(const struct bridge_calls *calls,
                                          struct bridge_who who)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id);

    for (size_t i = 0; i < calls->holder_count; i++)
        if (calls->holders[i]->topic == who.topic &&
            mcpx_slice_equal(calls->holders[i]->identity, identity))
            return calls->holders[i];
    return NULL;
}

/* The holder of that name, or a new one. */
static struct bridge_holder *hold_for(struct bridge_calls *calls, struct bridge_who who)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id);
    struct bridge_holder *holder = bridge_calls_holder(calls, who);
    char *at;

    if (holder)
        return holder;
    mx_make_room(&calls->holders, calls->holder_count, &calls->holder_size,
                 sizeof(struct bridge_holder *));
    holder = bridge_room(sizeof *holder, identity.len, &at);
    holder->topic = who.topic;
    holder->identity = mx_keep(&at, identity);
    calls->holders[calls->holder_count++] = holder;
    return holder;
}

/* Counts one call less; frees a holder without calls. */
static void leave_holder(struct bridge_calls *calls, struct bridge_holder *holder)
{
    size_t at = 0;

    if (!holder)
        return;
    calls->held--;
    if (--holder->calls > 0)
        return;
    while (calls->holders[at] != holder)
        at++;
    calls->holders[at] = calls->holders[--calls->holder_count];
    free(holder);
}

void bridge_calls_fini(struct bridge_calls *calls)
{
    while (calls->first)
        bridge_calls_drop(calls, calls->first);
    free(calls->holders);
    mx_map_fini(&calls->by_number);
    *calls = (struct bridge_calls){.last_number = calls->last_number};
}

struct bridge_call *bridge_calls_add(struct bridge_calls *calls,
                                     const struct bridge_call *from)
{
    size_t len = from->who.id.len;
    struct bridge_call *call;
    char *at;

    for (size_t i = 0; i < TEXTS; i++)
        len += from->texts[i].len;
    call = bridge_room(sizeof *call, len, &at);
    *call = *from;
    call->who.id = mx_keep(&at, from->who.id);
    for (size_t i = 0; i < TEXTS; i++)
        call->texts[i] = mx_keep(&at, from->texts[i]);
    mx_map_reserve(&calls->by_number);
    call->number = from->number ? from->number : ++calls->last_number;
    call->holder = call->who.id.text ? hold_for(calls, call->who) : NULL;
    if (call->holder) {
        call->holder->calls++;
        calls->held++;
    }
    call->heartbeat_ms = call->resend_ms = INT64_MAX;
    if (calls->count++ == 0)
        calls->due_ms = INT64_MAX;
    bridge_calls_defer(calls, call, from->due_ms ? from->due_ms : INT64_MAX);
    call->previous = calls->last;
    call->next = NULL;
    *(calls->last ? &calls->last->next : &calls->first) = call;
    calls->last = call;
    mx_map_put(&calls->by_number, hash_of(call->number), (uintptr_t)call);
    return call;
}

void bridge_calls_renumber(struct bridge_calls *calls, struct bridge_call *call)
{
    mx_map_remove(&calls->by_number, hash_of(call->number), (uintptr_t)call);
    call->number = ++calls->last_number;
    mx_map_put(&calls->by_number, hash_of(call->number), (uintptr_t)call);
}

struct bridge_call *bridge_calls_replace(struct bridge_calls *calls, struct bridge_call *call,
                                         struct bridge_call *from)
{
    struct bridge_call *next;

    from->payload = (struct mcpx_text){0};
    next = bridge_calls_add(calls, from); /* it has the other texts now */
    next->resend_ms = call->resend_ms;
    call->sent_in = call->approved_in = call->state = (struct mcpx_text){0};
    bridge_calls_drop(calls, call);
    return next;
}

void bridge_calls_hold(struct bridge_calls *calls, struct bridge_call *call,
                       struct mcpx_slice payload)
{
    mcpx_text_slice(&call->payload, payload);
    calls->payload_bytes += call->payload.len;
    if (call->holder)
        call->holder->payload_bytes += call->payload.len;
}

void bridge_calls_release(struct bridge_calls *calls, struct bridge_call *call)
{
    calls->payload_bytes -= call->payload.len;
    if (call->holder)
        call->holder->payload_bytes -= call->payload.len;
    mcpx_text_fini(&call->payload);
}

struct bridge_call *bridge_calls_find(const struct bridge_calls *calls, int64_t number)
{
    size_t at = 0;

    return (struct bridge_call *)(uintptr_t)mx_map_next(&calls->by_number, hash_of(number),
                                                        &at);
}

struct bridge_call *bridge_calls_due(struct bridge_calls *calls, int64_t mono_ms,
                                     int64_t *passed)
{
    struct bridge_call *call = bridge_calls_find(calls, *passed);

    if (!call)
        calls->due_ms = INT64_MAX;
    for (call = call ? call->next : calls->first; call && call->due_ms > mono_ms;
         call = call->next) {
        *passed = call->number;
        bridge_calls_defer(calls, call, call->due_ms);
    }
    return call;
}

void bridge_calls_defer(struct bridge_calls *calls, struct bridge_call *call, int64_t due_ms)
{
    call->due_ms = due_ms;
    if (due_ms < calls->due_ms)
        calls->due_ms = due_ms;
}

void bridge_calls_drop(struct bridge_calls *calls, struct bridge_call *call)
{
    bridge_calls_release(calls, call);
    leave_holder(calls, call->holder);
    *(call->previous ? &call->previous->next : &calls->first) = call->next;
    *(call->next ? &call->next->previous : &calls->last) = call->previous;
    mx_map_remove(&calls->by_number, hash_of(call->number), (uintptr_t)call);
    calls->count--;
    mcpx_text_fini(&call->sent_in);
    mcpx_text_fini(&call->approved_in);
    mcpx_text_fini(&call->state);
    free(call);
}

/* ---- admission and completion ---- */

bool bridge_checks_apply_to(const struct bridge_checks *checks, struct mcpx_slice method)
{
    return checks->terms && bridge_is(method, "tools/call");
}

void bridge_checks_admit(struct bridge_checks *checks,
                         const struct mcpx_calls_options *options,
                         struct mcpx_call_request *request, struct mcpx_slice hello,
                         struct mcpx_admission *out)
{
    struct mcpx_calls_options whole = *options;
    unsigned char chance[MCPX_CALL_RANDOM_LEN] = {0};
    mx_scoped_text version = {0};

    whole.terms = checks->terms->terms;
    whole.contracts = checks->terms->contracts;
    whole.deterministic = checks->terms->deterministic;
    if (!checks->calls)
        checks->calls = mcpx_calls_new(&whole);
    if (!whole.deterministic)
        checks->chance(checks->user, chance, sizeof chance);
    mcpx_json_add_unescaped(&version,
                            mcpx_json_get(mcpx_json_get(hello, "serverInfo"), "version"));
    request->now = checks->now(checks->user);
    request->random = chance;
    if (version.text)
        request->server_version = mcpx_text_view(&version);
    memory_checked(mcpx_calls_admit(checks->calls, request, out));
}

void bridge_checks_end(struct bridge_checks *checks, struct mcpx_call **admitted,
                       struct mcpx_call_end *end, struct mcpx_call_answer *answer)
{
    struct mcpx_call *call = *admitted;

    *admitted = NULL;
    end->now = checks->now(checks->user);
    memory_checked(mcpx_calls_answer(checks->calls, call, end, answer));
}

void bridge_checks_abandon(struct bridge_checks *checks, struct mcpx_call **admitted)
{
    struct mcpx_call_end end = {.type = MCPX_CALL_FAILED,
                                .cause = MCPX_CAUSE_FAILED,
                                .reason = MCPX_SLICE("its caller no longer waits")};
    struct mcpx_call_answer answer;

    if (*admitted)
        bridge_checks_end(checks, admitted, &end, &answer);
}

int bridge_code_of(enum mcpx_cause cause)
{
    switch (cause) {
    case MCPX_CAUSE_INPUT:
        return BRIDGE_BAD_PARAMS;
    case MCPX_CAUSE_TIMEOUT:
        return BRIDGE_TIMED_OUT;
    case MCPX_CAUSE_DENIED:
        return BRIDGE_NOT_ALLOWED;
    default:
        return BRIDGE_UNAVAILABLE;
    }
}

/* ---- contract settings of a command line ---- */

/* Reports each error on a line of its own: "/limits/input_bytes must be an integer". */
static int read_text(const char *file, struct mcpx_slice text, struct bridge_terms *out)
{
    struct mcpx_schema_report report = {0};
    enum mcpx_err err;

    out->shelf = mcpx_shelf_new();
    out->contracts = mcpx_contracts_new(out->shelf);
    err = memory_checked(mcpx_terms_read(out->contracts, text, &report, &out->terms));
    if (!err)
        mcpx_terms_limit(out->terms, out->shelf);
    for (size_t i = 0; err && i < report.count; i++) {
        const struct mcpx_schema_error *error = &report.errors[i];
        mx_scoped_text fault = mx_formatted("%s%s: %s%s%s", file ? " " : "", file, error->path,
                                            error->path.len ? " " : "", error->message);

        complain("--contracts%s", fault.text);
    }
    mcpx_schema_report_fini(&report);
    return err ? STATUS_USAGE : STATUS_OK;
}

int bridge_terms_read(const struct arguments *arguments, struct bridge_terms *out)
{
    const char *word = arguments_value(arguments, "--contracts");
    mx_scoped_text text = {0};
    bool is_file = word && *word != '{';
    int status = STATUS_OK;

    *out = (struct bridge_terms){0};
    out->deterministic = arguments_have(arguments, "--deterministic-ids");
    if (!word && out->deterministic)
        return fail_with(STATUS_USAGE, "--deterministic-ids needs --contracts");
    if (!word)
        return STATUS_OK;
    if (is_file)
        status = input_read(word, &text);
    if (status == STATUS_OK)
        status = read_text(is_file ? word : NULL,
                           is_file ? mcpx_text_view(&text) : mcpx_slice_of(word), out);
    return status;
}

void bridge_terms_fini(struct bridge_terms *terms)
{
    mcpx_terms_free(terms->terms);
    mcpx_contracts_free(terms->contracts);
    mcpx_shelf_free(terms->shelf);
    *terms = (struct bridge_terms){0};
}
