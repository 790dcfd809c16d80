/*
 * api_check.c - the decision of protocol section 3 without sending. A caller with a token may ask
 * about itself, and about any list of grants in the request. Only a caller with a grant for
 * `admin/check` may ask about another configured participant.
 */
#include "lib/json/json_write.h"
#include "router/api/api.h"
#include "router/policy/grants/grant_list.h"

/*
 * Compiling 1,000 fresh patterns, or 64 of a kilobyte each, would block the loop for 10 ms and
 * more. Tokens have the same bound of bytes.
 */
enum { CHECK_GRANTS_MAX = 64, CHECK_BYTES_MAX = 8192 };

/* The question. Slices borrow from the body. */
struct check {
    struct mcpx_kind kind;
    struct mcpx_slice to[MCPX_TO_MAX];
    size_t to_count;
};

static bool read_check(const struct api_call *call, struct check *check,
                       struct http_reply *reply)
{
    const json_t *to = json_object_get(call->body, "to");
    struct mcpx_fault fault = {0};

    if (mcpx_kind_parse(api_string(call, "kind"), &check->kind, &fault)) {
        api_body_fault(MCPX_EKIND, "kind", &fault, reply);
        return false;
    }
    check->to_count = json_array_size(to);
    for (size_t i = 0; i < check->to_count; i++)
        check->to[i] = json_slice(json_array_get(to, i));
    return true;
}

/* Returns a grant, a reference for the caller to release; NULL with a problem. */
static struct grant *grant_of_list(const struct api_call *call, const json_t *list,
                                   struct http_reply *reply)
{
    struct mcpx_fault fault = {0};
    struct mcpx_capset *set = NULL;
    struct grant *grant = NULL;
    enum mcpx_err err = MCPX_OK;

    if (json_array_size(list) > CHECK_GRANTS_MAX) {
        http_reply_fail(reply, MCPX_EREQUEST, "capabilities must hold at most 64 grants");
    } else if (json_dumpb(list, NULL, 0, JSON_COMPACT) > CHECK_BYTES_MAX) {
        http_reply_fail(reply, MCPX_EREQUEST, "capabilities must be at most 8192 bytes");
    } else {
        err = capset_compile(list, &fault, &set);
        if (!err)
            grant = grant_new(call->grant->identity, set, ROUTING_DEFAULT, 0);
        if (!grant)
            api_body_fault(err ? err : MCPX_ENOMEM, "capabilities", &fault, reply);
        mcpx_capset_unref(set);
    }
    return grant;
}

static struct grant *grant_of_participant(const struct api_call *call, struct mcpx_slice id,
                                          struct http_reply *reply)
{
    struct mcpx_slice identity = mcpx_identity_of(id); /* instances have its grants */
    const struct tokens_entry *entry;

    if (mcpx_slice_equal(identity, call->grant->identity))
        return grant_ref(call->grant);
    if (!authority_has(call->grant->capset, "admin/check", call->now.wall_ms)) {
        http_reply_fail(reply, MCPX_ECAPABILITY,
                        "asking about another participant needs a grant for admin/check");
        return NULL;
    }
    entry = tokens_find_id(call->api->config->tokens, identity);
    if (entry)
        return grant_ref(entry->grant);
    http_reply_fail(reply, MCPX_ENOTFOUND, "no such configured participant");
    return NULL;
}

static struct grant *pick_grant(const struct api_call *call, struct http_reply *reply)
{
    const json_t *list = json_object_get(call->body, "capabilities");
    struct mcpx_slice participant = api_string(call, "participant");

    if (list && participant.text) {
        http_reply_fail(reply, MCPX_EREQUEST,
                        "give participant or capabilities, but not both");
        return NULL;
    }
    if (list)
        return grant_of_list(call, list, reply);
    return participant.text ? grant_of_participant(call, participant, reply)
                            : grant_ref(call->grant);
}

/* Decides, and appends the applicable members of `capability_violation`, protocol section 6. The
 * object stays open. */
static void write_decision(struct grant *grant, const struct check *check, int64_t wall_ms,
                           struct mcpx_text *out)
{
    const struct mcpx_question question = {&check->kind, check->to, check->to_count, wall_ms};
    struct mcpx_decision decision = {0};

    mcpx_capset_explain(grant->capset, &question, &decision);
    mx_json_add_bool(out, "allowed", decision.refusal == MCPX_ALLOWED);
    mx_json_add_optional(out, "reason", mcpx_slice_of(mcpx_refusal_wire(decision.refusal)));
    mx_json_add_optional(out, "grant", decision.grant);
    mx_json_add_optional(out, "nearest", decision.nearest);
    mx_json_add_optional(out, "would_allow", decision.would_allow);
    mx_json_add_optional(out, "alternative", decision.alternative);
}

/* True when the caller's token is valid in the named topic, if any; else with a problem. */
static bool may_ask_in(const struct api_call *call, struct mcpx_slice topic,
                       struct http_reply *reply)
{
    struct grant *own = topic.text ? api_grant_in(call, topic, reply) : NULL;

    grant_unref(own);
    return !topic.text || own;
}

/* Writes the present decision in a topic, with runtime grants and runtime denials. */
static void write_now(const struct api_call *call, struct grant *grant,
                      const struct check *check, struct mcpx_slice topic,
                      struct http_reply *reply)
{
    struct grant *now = NULL;
    struct change_list *list = changes_find(call->api->changes, grant->identity, topic);
    enum mcpx_err err =
        change_list_apply(call->api->changes, list, grant, call->now.wall_ms, &now);

    if (err) {
        http_reply_fail(reply, err == MCPX_ELIMIT ? MCPX_EFULL : err, NULL);
        return;
    }
    mx_json_begin_object(&reply->body, "now");
    write_decision(now, check, call->now.wall_ms, &reply->body);
    mx_json_end_object(&reply->body);
    grant_unref(now);
}

static void answer_check(const struct api_call *call, struct http_reply *reply)
{
    struct mcpx_slice topic = api_string(call, "topic");
    struct check check;
    struct grant *grant = NULL;

    if (!read_check(call, &check, reply) || !may_ask_in(call, topic, reply))
        return;
    grant = pick_grant(call, reply);
    if (!grant)
        return;
    mx_json_begin_object(&reply->body, NULL);
    write_decision(grant, &check, call->now.wall_ms, &reply->body);
    if (topic.text && !json_object_get(call->body, "capabilities"))
        write_now(call, grant, &check, topic, reply);
    mx_json_end_object(&reply->body);
    grant_unref(grant);
}

static const struct http_param check_body[] = {
    {"kind", HTTP_TEXT, true, .must = NULL},
    {"to", HTTP_IDS, .most = MCPX_TO_MAX,
     .must = "to must be an array of at most 256 participant ids"},
    {API_TOPIC_IF_ANY},
    {API_TEXT("participant")},
    {API_GRANTS},
    {API_END}};

const struct api_route api_check_routes[] = {
    {HTTP_POST, "/v0.1/check", "whether a kind may be sent, and why not",
     .handle = answer_check, .access = ACCESS_TOKEN, .body = check_body},
    {.path = NULL},
};
