/*
 * call.c - admission: a call is read, found and judged, then passed on or refused. `steps` has the
 * steps; the first that finds a flaw ends the call.
 */
#include "lib/contract/call.h"

#include "lib/contract/terms.h"
#include "lib/json/decisive.h"
#include "lib/json/json_write.h"

#include <mcpx/json.h>

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The member of `arguments` in which servers of another manner look for it. */
static const char in_arguments[] = "context";

static struct mcpx_slice in_meta(struct mcpx_slice params)
{
    return mcpx_json_get(mcpx_json_get(params, "_meta"), MCPX_CONTEXT_MEMBER);
}

/* The context where the server looks for it, in params that it is given; absent if not there. */
static struct mcpx_slice context_given(const struct mx_context_terms *terms,
                                       struct mcpx_slice params)
{
    return terms->in_arguments
               ? mcpx_json_get(mcpx_json_get(params, "arguments"), in_arguments)
               : in_meta(params);
}

/* The context in a call's params: that of `arguments`, if the server looks there, comes first. */
static struct mcpx_slice find_given(const struct mx_context_terms *terms,
                                    struct mcpx_slice params)
{
    struct mcpx_slice given = context_given(terms, params);

    return given.text || !terms->in_arguments ? given : in_meta(params);
}

/* All readers find the same member of that name, or none. */
static bool is_clear(struct mcpx_slice object, const char *name)
{
    struct mx_decisive member = {name, {NULL, 0}};

    return mx_decisive_find(object, &member, 1, NULL);
}

/* False when two readers could find two different contexts in params. */
static bool is_context_clear(const struct mx_context_terms *terms, struct mcpx_slice params)
{
    return is_clear(mcpx_json_get(params, "_meta"), MCPX_CONTEXT_MEMBER) &&
           (!terms->in_arguments ||
            is_clear(mcpx_json_get(params, "arguments"), in_arguments));
}

/* The member of params that the context is a part of. */
static const char *place_of(const struct mx_context_terms *terms)
{
    return terms->in_arguments ? "arguments" : "_meta";
}

/* Appends the new value of that member, which is an object or absent, with the context in it. */
static void put_context(struct mcpx_text *out, const struct mx_context_terms *terms,
                        struct mcpx_slice params, struct mcpx_slice context)
{
    struct mcpx_slice before = mcpx_json_get(params, place_of(terms));
    struct mcpx_json_change change = {terms->in_arguments ? in_arguments : MCPX_CONTEXT_MEMBER,
                                      context};

    mcpx_json_add_changed(out, before.text ? before : MCPX_SLICE("{}"), &change, 1);
}

/* Where random bytes for each id are in those of a request. */
enum { RANDOM_REQUEST = 0, RANDOM_SPAN = 16, RANDOM_RUN = 32 };

static enum mcpx_err make_id(struct mx_admitting *a, enum mcpx_id_purpose purpose,
                             char out[MCPX_ID_LEN + 1])
{
    static const size_t places[] = {[MCPX_ID_REQUEST] = RANDOM_REQUEST,
                                    [MCPX_ID_SPAN] = RANDOM_SPAN,
                                    [MCPX_ID_RUN] = RANDOM_RUN};

    if (a->calls->options.deterministic)
        return mcpx_ids_next(a->calls->ids, purpose, a->name, a->asked.arguments, out);
    mcpx_id_random(a->request->random + places[purpose], out);
    return MCPX_OK;
}

/* Copies a text that was composed; it is not absent, not even when it is empty. */
static enum mcpx_err keep(struct mcpx_call *call, const struct mcpx_text *text,
                          struct mcpx_slice *out)
{
    if (text->failed)
        return MCPX_ENOMEM;
    *out = mx_arena_copy(&call->arena, mcpx_text_view(text));
    return out->text ? MCPX_OK : MCPX_ENOMEM;
}

/* The ids of the call, whatever becomes of it. */
static enum mcpx_err identify(struct mx_admitting *a, struct mcpx_slice context)
{
    struct mcpx_call *call = a->call;
    struct mcpx_text *plain = &a->calls->plain;
    struct mcpx_id_sources from = {context, a->asked.meta, a->request->envelope_id};
    char made[MCPX_ID_LEN + 1];
    enum mcpx_err err = MCPX_OK;

    mcpx_text_reset(plain);
    if (!mcpx_request_id_add(plain, &from) && call->request_id.text)
        return MCPX_OK;
    if (plain->len == 0) {
        err = make_id(a, MCPX_ID_REQUEST, made);
        mcpx_text_puts(plain, err ? "" : made);
    }
    if (!err)
        err = keep(call, plain, &call->request_id);
    mcpx_text_reset(plain);
    if (!err) {
        mcpx_trace_id_add(plain, &from, call->request_id);
        err = keep(call, plain, &call->trace_id);
    }
    return err;
}

/* What a string stands for; absent for an absent one. */
static enum mcpx_err keep_plain(struct mx_admitting *a, struct mcpx_slice value,
                                struct mcpx_slice *out)
{
    struct mcpx_text *plain = &a->calls->plain;

    mcpx_text_reset(plain);
    if (!mcpx_json_add_unescaped(plain, value))
        return plain->failed ? MCPX_ENOMEM : MCPX_OK;
    return keep(a->call, plain, out);
}

/* What is asked, and by which ids it goes. */
static enum mcpx_err begin(struct mx_admitting *a)
{
    const struct mcpx_call_request *request = a->request;
    struct mcpx_call *call = a->call;
    enum mcpx_err err = mx_call_read(a->calls, request, call, &a->asked);

    call->start = request->now;
    call->transport =
        mcpx_slice_of(request->transport ? request->transport : a->calls->options.transport);
    call->input_bytes = a->asked.arguments.len;
    a->params = a->asked.params;
    a->arguments = a->asked.arguments;
    a->given = find_given(&a->calls->terms->context, a->params);
    a->context = a->given;
    if (!err)
        err = keep_plain(a, a->asked.name, &a->name);
    if (!err)
        err = identify(a, a->given);
    if (!err)
        err = make_id(a, MCPX_ID_SPAN, call->span_id);
    return err;
}

/* Step 1. A name that two readers read differently has none. */
static enum mcpx_err check_shape(struct mx_admitting *a)
{
    struct mcpx_schema_error error = {MCPX_SLICE("/params/name"), MCPX_SLICE("minLength"),
                                      MCPX_SLICE("must not be empty")};
    struct mx_flaw *flaw = &a->calls->flaw;

    if (!flaw->is_found && a->name.len == 0) {
        a->asked.is_hopeless = true;
        mx_flaw_at(flaw, MCPX_CAUSE_INVOCATION, &error);
    }
    if (flaw->failed)
        return MCPX_ENOMEM;
    if (!flaw->is_found)
        return MCPX_OK;
    return a->asked.is_hopeless ? MCPX_EINVALID : mx_admit_weigh(a, MCPX_EINVALID);
}

/* The call's own context, or one that is made; a flaw when there is none, or one that is broken. */
static enum mcpx_err find_context(struct mx_admitting *a)
{
    const struct mx_context_terms *terms = &a->calls->terms->context;
    struct mcpx_schema_error missing = {MCPX_SLICE("/context"), MCPX_SLICE("required"),
                                        MCPX_SLICE("is missing")};
    struct mcpx_schema_error unclear = {MCPX_SLICE("/context"), MCPX_SLICE("ambiguous"),
                                        MCPX_SLICE("must not be readable in two ways")};
    struct mcpx_text *made = &a->calls->context;
    enum mcpx_err err;

    if (!is_context_clear(terms, a->params))
        return mx_flaw_at(&a->calls->flaw, MCPX_CAUSE_CONTEXT, &unclear);
    if (!a->given.text && terms->policy == MX_CONTEXT_REQUIRE)
        return mx_flaw_at(&a->calls->flaw, MCPX_CAUSE_CONTEXT, &missing);
    if (!a->given.text && terms->policy == MX_CONTEXT_DEFAULT) {
        mcpx_text_reset(made);
        mx_context_make(made, a->calls->terms, a->call->request_id, a->call->trace_id);
        a->context = mcpx_text_view(made);
        return made->failed ? MCPX_ENOMEM : identify(a, a->context);
    }
    err = mcpx_contracts_validate(a->calls->options.contracts, MCPX_CONTRACT_CONTEXT, a->given,
                                  &a->calls->report);
    if (!err || err == MCPX_ENOMEM)
        return err;
    return mx_flaw_report(&a->calls->flaw, MCPX_CAUSE_CONTEXT, "/context", &a->calls->report);
}

/* The member of params into which the context would be written has to be an object. */
static enum mcpx_err check_place(struct mx_admitting *a)
{
    const char *place = place_of(&a->calls->terms->context);
    enum mcpx_json_type type = mcpx_json_type(mcpx_json_get(a->params, place));
    struct mcpx_schema_error error = {
        mcpx_slice_of(*place == '_' ? "/params/_meta" : "/params/arguments"),
        MCPX_SLICE("type"), MCPX_SLICE("must be an object")};

    if (type == MCPX_JSON_ABSENT || type == MCPX_JSON_OBJECT)
        return MCPX_OK;
    return mx_flaw_at(&a->calls->flaw, MCPX_CAUSE_INVOCATION, &error);
}

/* Step 2. */
static enum mcpx_err take_context(struct mx_admitting *a)
{
    enum mcpx_err err = MCPX_OK;

    if (a->calls->terms->context.policy != MX_CONTEXT_IGNORE) {
        err = check_place(a);
        if (!err)
            err = find_context(a);
    }
    if (!err)
        err = keep_plain(a, mcpx_json_get(a->context, "actor"), &a->call->actor);
    if (!err)
        err = keep_plain(a, mcpx_json_get(a->context, "mode"), &a->call->mode);
    return err;
}

/* The tool of a name among those of the server, or the one that the edge answers; absent: none. */
static struct mcpx_slice find_tool(struct mx_admitting *a)
{
    const struct mcpx_calls *calls = a->calls;
    const struct mcpx_slice none = {0};

    if (!a->tools)
        return a->name;
    if (mx_tools_has(a->tools, a->name))
        return a->name;
    if (calls->own && mx_tools_has(calls->own, a->name)) {
        a->is_handshake = true;
        a->tools = calls->own;
        return a->name;
    }
    return calls->options.side == MCPX_SIDE_SERVER
               ? mx_alias_find(calls->terms, a->tools, a->name)
               : none;
}

/* Whether the sender may call the tool, as far as the router has not been asked. */
static enum mcpx_err check_right(struct mx_admitting *a, struct mcpx_slice tool)
{
    const struct mcpx_call_request *request = a->request;
    bool is_asked = a->calls->options.side == MCPX_SIDE_CLIENT || a->call->alias.text;
    struct mcpx_text *more = &a->calls->plain;

    mcpx_text_reset(more);
    if (!is_asked || !request->may || request->may(request->context, tool, more))
        return MCPX_OK;
    mx_flaw_set(&a->calls->flaw, MCPX_CAUSE_DENIED);
    mx_flaw_keep(&a->calls->flaw, mx_formatted("%s", more), &a->calls->flaw.more);
    return MCPX_EINVALID;
}

/* Steps 3 and 4. */
static enum mcpx_err resolve(struct mx_admitting *a)
{
    struct mcpx_call *call = a->call;
    struct mcpx_slice tool;
    enum mcpx_err err;

    a->tools = a->request->tools;
    tool = find_tool(a);
    if (tool.text && !mcpx_slice_equal(tool, a->name))
        call->alias = a->name;
    if (!mx_call_keep(call, tool, &call->tool))
        return MCPX_ENOMEM;
    err = check_right(a, tool.text ? call->tool : a->name);
    if (err)
        return err;
    if (!tool.text)
        return mx_flaw_set(&a->calls->flaw, MCPX_CAUSE_TOOL_UNKNOWN);
    call->terms = a->is_handshake ? NULL : mx_terms_of(a->calls->terms, call->tool);
    return MCPX_OK;
}

/* Writes params with the tool's own name and the context, where they are not there already. */
static enum mcpx_err change_params(struct mx_admitting *a)
{
    const struct mx_context_terms *terms = &a->calls->terms->context;
    struct mcpx_calls *calls = a->calls;
    struct mcpx_json_change changes[2];
    size_t count = 0;

    mcpx_text_reset(&calls->plain);
    mcpx_text_reset(&calls->part);
    if (a->call->alias.text) {
        mcpx_json_add_string(&calls->plain, a->call->tool);
        changes[count++] = (struct mcpx_json_change){"name", mcpx_text_view(&calls->plain)};
    }
    if (terms->policy != MX_CONTEXT_IGNORE && !context_given(terms, a->params).text) {
        put_context(&calls->part, terms, a->params, a->context);
        changes[count++] =
            (struct mcpx_json_change){place_of(terms), mcpx_text_view(&calls->part)};
    }
    if (count == 0)
        return MCPX_OK;
    mcpx_text_reset(&calls->params);
    mcpx_json_add_changed(&calls->params, a->params, changes, count);
    if (calls->plain.failed || calls->part.failed || calls->params.failed)
        return MCPX_ENOMEM;
    a->params = mcpx_text_view(&calls->params);
    a->arguments = mcpx_json_get(a->params, "arguments");
    return MCPX_OK;
}

/* Step 8: what is handed over has all that came, and all that the contract wants. */
static enum mcpx_err check_handed(struct mx_admitting *a)
{
    const struct mx_context_terms *terms = &a->calls->terms->context;

    if (terms->policy == MX_CONTEXT_IGNORE ||
        mcpx_context_keeps(a->given, context_given(terms, a->params)))
        return MCPX_OK;
    return mx_flaw_set(&a->calls->flaw, MCPX_CAUSE_FAILED);
}

static enum mcpx_err (*const steps[])(struct mx_admitting *) = {
    check_shape,         take_context,         resolve,      change_params, mx_admit_tell,
    mx_admit_check_tier, mx_admit_check_input, check_handed,
};

/* Keeps what an envelope is made of, if there will be one. */
static enum mcpx_err keep_for_envelope(struct mx_admitting *a)
{
    struct mcpx_call *call = a->call;
    const struct mcpx_call_request *request = a->request;

    if (!call->terms || call->terms->form == MCPX_FORM_AS_IS)
        return MCPX_OK;
    if (!mx_call_keep(call, a->asked.arguments, &call->arguments) ||
        !mx_call_keep(call, a->asked.meta, &call->meta) ||
        !mx_call_keep(call, request->server_version, &call->server_version) ||
        !mx_call_keep(call, request->fulfils, &call->fulfils))
        return MCPX_ENOMEM;
    return call->terms->form == MCPX_FORM_ENVELOPE ? make_id(a, MCPX_ID_RUN, call->run_id)
                                                   : MCPX_OK;
}

/* Composes the handshake, unless it is that of these tools already: there can be 100,000. */
static enum mcpx_err compose_handshake(struct mx_admitting *a)
{
    struct mcpx_calls *calls = a->calls;
    const unsigned char *digest = mx_tools_digest(a->request->tools);
    enum mcpx_err err;

    if (calls->handshake.len > 0 && memcmp(calls->handshake_of, digest, MX_SHA256_BYTES) == 0)
        return MCPX_OK;
    mcpx_text_fini(&calls->handshake);
    err = mx_handshake_result(&calls->handshake, calls->terms, a->request->tools,
                              calls->options.participant);
    if (err)
        mcpx_text_fini(&calls->handshake);
    else
        memcpy(calls->handshake_of, digest, MX_SHA256_BYTES);
    return err;
}

/* The edge's own answer. MCPX_EINVALID: it is too long. */
static enum mcpx_err shake_hands(struct mx_admitting *a, struct mcpx_call_answer *out)
{
    size_t max = a->request->answer_max;
    enum mcpx_err err = compose_handshake(a);

    if (err)
        return err;
    *out = (struct mcpx_call_answer){false, mcpx_text_view(&a->calls->handshake)};
    if (max > 0 && out->text.len > max)
        return mx_flaw_size(&a->calls->flaw, MCPX_CAUSE_OUTPUT_SIZE, "the answer has",
                            out->text.len, max);
    return MCPX_OK;
}

/* A call that goes no further: it has its answer and its records. */
static enum mcpx_err end_here(struct mx_admitting *a, bool is_refused,
                              struct mcpx_call_answer *out)
{
    struct mx_call_outcome outcome = {.now = a->request->now};
    enum mcpx_err err = is_refused ? MCPX_OK : shake_hands(a, out);

    if (!is_refused && err != MCPX_ENOMEM)
        outcome.output_bytes = out->text.len;
    is_refused = is_refused || err == MCPX_EINVALID;
    if (is_refused)
        err = mx_call_refuse(a->calls, a->call, NULL, out);
    if (err)
        return err;
    if (is_refused && !mx_call_note_flaw(a->calls, a->call))
        return MCPX_ENOMEM;
    if (is_refused) {
        outcome.outcome = MCPX_OUTCOME_ERROR;
        outcome.code = mcpx_cause_code(a->calls->flaw.says.cause);
    } else if (a->call->flaw.is_found) {
        outcome.outcome = MCPX_OUTCOME_DEGRADED;
        outcome.code = mcpx_cause_code(a->call->flaw.cause);
    }
    return mx_call_tell_end(a->calls, a->call, &outcome) ? MCPX_OK : MCPX_ENOMEM;
}

/* Goes through the steps. MCPX_EINVALID: a flaw was found. */
static enum mcpx_err walk(struct mx_admitting *a)
{
    enum mcpx_err err = begin(a);

    for (size_t i = 0; i < COUNT(steps) && !err; i++)
        err = steps[i](a);
    if (err == MCPX_ENOMEM || a->calls->flaw.failed)
        return MCPX_ENOMEM;
    if (keep_for_envelope(a))
        return MCPX_ENOMEM;
    return err;
}

/* Puts a call into the list. */
static void enter(struct mcpx_calls *calls, struct mcpx_call *call)
{
    call->to = calls->first;
    if (call->to)
        call->to->from = call;
    calls->first = call;
    calls->count++;
}

static enum mcpx_err admit(struct mx_admitting *a, struct mcpx_admission *out)
{
    enum mcpx_err err = walk(a);

    if (err == MCPX_ENOMEM)
        return err;
    if (err || a->is_handshake)
        return end_here(a, err != MCPX_OK, &out->answer);
    enter(a->calls, a->call);
    out->call = a->call;
    out->tool = a->call->tool;
    if (a->params.text != a->asked.params.text ||
        (a->asked.is_invocation && !a->request->params.text))
        out->params = a->params;
    return MCPX_OK;
}

enum mcpx_err mcpx_calls_admit(struct mcpx_calls *calls,
                               const struct mcpx_call_request *request,
                               struct mcpx_admission *out)
{
    struct mx_admitting a = {.calls = calls, .request = request};
    size_t records = calls->lines.count;
    enum mcpx_err err = MCPX_ENOMEM;

    *out = (struct mcpx_admission){0};
    mx_flaw_reset(&calls->flaw);
    a.call = (struct mcpx_call *)calloc(1, sizeof *a.call);
    if (a.call)
        err = admit(&a, out);
    if (err)
        calls->lines.count = records;
    if (!out->call)
        mx_call_free(a.call);
    return err;
}
