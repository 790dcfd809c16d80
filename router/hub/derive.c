/*
 * derive.c - the router never opens a payload, so what a short response answers can only come
 * from the kind of the request it names. The completed kind is what is matched, delivered and
 * kept: see docs/adr/0005.
 */
#include "router/hub/depart.h"

#include "router/hub/pending.h"
#include "router/hub/topic/topic_state.h"

/* The response goes to who asked, or to all: else it answers something else under that id. */
static bool is_answer(const struct log *log, const struct accepted *request,
                      struct mcpx_slice sender, const struct mcpx_envelope *envelope)
{
    (void)sender;
    for (size_t i = 0; i < envelope->to_count; i++)
        if (log_sender(log, envelope->to[i]) == request->sender)
            return true;
    return envelope->to_count == 0;
}

/* Only those who were to act on a proposal fulfil it, or who addresses only such. Section 9. */
static bool is_fulfilment(const struct log *log, const struct accepted *proposal,
                          struct mcpx_slice sender, const struct mcpx_envelope *envelope)
{
    (void)log;
    if (accepted_is_for(proposal, sender))
        return true;
    for (size_t i = 0; i < envelope->to_count; i++)
        if (!accepted_is_for(proposal, envelope->to[i]))
            return false;
    return envelope->to_count > 0;
}

/* Who may be completed from whom: protocol section 4, one row per rule. */
static const struct rule {
    const char *type;
    const char *original;
    bool (*is_meant)(const struct log *, const struct accepted *, struct mcpx_slice,
                     const struct mcpx_envelope *);
} rules[] = {
    {"mcp/response", "mcp/request", is_answer},
    {"mcp/request", "mcp/proposal", is_fulfilment},
};

static const struct rule *rule_for(struct mcpx_slice type)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (mcpx_slice_equal(type, mcpx_slice_of(rules[i].type)))
            return &rules[i];
    return NULL;
}

/* Does that kind complete this one? Fills `original` with the kind it is completed from. */
static bool fits(const struct rule *rule, const struct accepted *accepted,
                 const struct mcpx_kind *kind, struct mcpx_kind *original)
{
    return mcpx_kind_parse(accepted->kind, original, NULL) == MCPX_OK &&
           mcpx_slice_equal(original->type, mcpx_slice_of(rule->original)) &&
           original->context.text && mcpx_slice_equal(original->method, kind->method);
}

bool derive_kind(const struct topic *topic, struct mcpx_slice sender,
                 struct mcpx_envelope *envelope, struct mcpx_text *text)
{
    struct mcpx_kind *kind = &envelope->kind, original, completed;
    const struct rule *rule;
    struct accepted accepted;

    if (!envelope->correlation_id.text || !kind->method.text || kind->context.text)
        return false;
    rule = rule_for(kind->type);
    if (!rule || !accepted_find(topic, envelope->correlation_id, &accepted))
        return false;
    if (!fits(rule, &accepted, kind, &original) ||
        !rule->is_meant(&topic->log, &accepted, sender, envelope))
        return false;
    mcpx_text_reset(text);
    mcpx_text_slice(text, kind->text);
    mcpx_text_add(text, ":", 1);
    mcpx_text_slice(text, original.context);
    /* "mcp/response" is a byte longer than "mcp/request": the longest request stays short. */
    if (text->failed || mcpx_kind_parse(mcpx_text_view(text), &completed, NULL) != MCPX_OK)
        return false;
    *kind = completed;
    return true;
}
