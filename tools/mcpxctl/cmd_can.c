/*
 * cmd_can.c - asks the configuration what the router would answer.
 * Includes verbs.h, kind_word.h, router/policy and json.h. It loads the settings the router
 * loads, from the same file and environment, with the same function; so its answer is the
 * router's, and a configuration the router would not start with is an error here too.
 */
#include "tools/mcpxctl/verbs.h"

#include "router/policy/config.h"
#include "router/policy/tokens.h"
#include "tools/mcpxctl/kind_word.h"
#include <mcpx/capability.h>
#include <mcpx/envelope.h>
#include <mcpx/json.h>

#include <openssl/rand.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern char **environ;

/* What is asked, all of it borrowed from the command line. */
struct inquiry {
    const char *file;
    struct mcpx_slice participant;
    struct mcpx_kind kind;
    struct mcpx_slice to[WORDS_MAX];
    size_t to_count;
};

static void fill_random(void *context, void *bytes, size_t len)
{
    (void)context;
    if (RAND_bytes(bytes, (int)len) != 1)
        abort();
}

static int64_t wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int read_inquiry(const struct arguments *arguments, struct inquiry *out)
{
    struct mcpx_fault fault = {"", "", 0};

    out->file = arguments_value(arguments, "--config");
    out->participant = mcpx_slice_of(arguments_value(arguments, "--as"));
    if (!out->file || !out->participant.text) {
        complain("can", "%s is required", out->file ? "--as ID" : "--config FILE");
        return STATUS_USAGE;
    }
    if (!kind_word_read(arguments->operands[0], &out->kind, &fault)) {
        complain("can", "not a valid kind: %s, byte %zu: %s", fault.field, fault.offset,
                 fault.reason);
        return STATUS_USAGE;
    }
    out->to_count = 0;
    for (size_t i = 0; i < arguments->option_count; i++) {
        struct mcpx_slice to = mcpx_slice_of(arguments->options[i].value);

        if (strcmp(arguments->options[i].option->name, "--to") != 0)
            continue;
        if (!mcpx_participant_id_is_valid(to)) {
            complain("can", "--to wants a participant id of 1..256 bytes");
            return STATUS_USAGE;
        }
        out->to[out->to_count++] = to;
    }
    return STATUS_OK;
}

static void put_line(struct mcpx_text *out, const char *label, struct mcpx_slice text)
{
    if (!text.text)
        return;
    mcpx_text_puts(out, label);
    mcpx_text_slice(out, text);
    mcpx_text_puts(out, "\n");
}

static const char *reason_sentence(enum mcpx_refusal refusal)
{
    switch (refusal) {
    case MCPX_ALLOWED:
        return "";
    case MCPX_NO_MATCHING_GRANT:
        return "no grant covers this kind";
    case MCPX_DENIED:
        return "a denial covers this kind";
    case MCPX_GRANT_EXPIRED:
        return "the grant that covers this kind has expired";
    case MCPX_TARGET_NOT_ALLOWED:
        return "the grant that covers this kind is for other addressees";
    case MCPX_RESERVED_NAMESPACE:
        return "only the router may send this type";
    }
    return "";
}

static void write_for_people(const struct inquiry *inquiry,
                             const struct mcpx_decision *decision, struct mcpx_text *out)
{
    bool allowed = decision->refusal == MCPX_ALLOWED;

    mcpx_text_puts(out, allowed ? "allowed: " : "refused: ");
    mcpx_text_slice(out, inquiry->participant);
    mcpx_text_puts(out, allowed ? " may send " : " may not send ");
    mcpx_text_slice(out, inquiry->kind.text);
    mcpx_text_puts(out, " to ");
    for (size_t i = 0; i < inquiry->to_count; i++) {
        mcpx_text_puts(out, i > 0 ? ", " : "");
        mcpx_text_slice(out, inquiry->to[i]);
    }
    mcpx_text_puts(out, inquiry->to_count == 0 ? "everyone\n" : "\n");
    if (!allowed)
        put_line(out, "  reason       ", mcpx_slice_of(reason_sentence(decision->refusal)));
    put_line(out, decision->refusal == MCPX_DENIED ? "  denial       " : "  grant        ",
             decision->grant);
    if (allowed)
        return;
    put_line(out, "  nearest      ", decision->nearest);
    put_line(out, "  would allow  ", decision->would_allow);
    put_line(out, "  alternative  ", decision->alternative);
}

static void put_member(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    if (!text.text)
        return;
    mcpx_text_puts(out, ",");
    mcpx_json_add_member(out, name, text);
}

static void write_for_programs(const struct mcpx_decision *decision, struct mcpx_text *out)
{
    mcpx_text_puts(out, decision->refusal == MCPX_ALLOWED ? "{\"allowed\":true"
                                                          : "{\"allowed\":false");
    put_member(out, "reason", mcpx_slice_of(mcpx_refusal_wire(decision->refusal)));
    put_member(out, "grant", decision->grant);
    put_member(out, "nearest", decision->nearest);
    put_member(out, "would_allow", decision->would_allow);
    put_member(out, "alternative", decision->alternative);
    mcpx_text_puts(out, "}\n");
}

static int answer(struct grant *grant, const struct inquiry *inquiry, bool json)
{
    struct mcpx_question question = {&inquiry->kind, inquiry->to, inquiry->to_count,
                                     wall_ms()};
    struct mcpx_decision decision;
    struct mcpx_text out = {0};
    int status;

    mcpx_capset_explain(grant->capset, &question, &decision);
    if (json)
        write_for_programs(&decision, &out);
    else
        write_for_people(inquiry, &decision, &out);
    status = decision.refusal == MCPX_ALLOWED ? STATUS_OK : STATUS_REFUSED;
    if (out.failed) {
        complain("can", "%s", mcpx_strerror(MCPX_ENOMEM));
        status = STATUS_FAILED;
    } else {
        fwrite(out.text, 1, out.len, stdout);
    }
    mcpx_text_fini(&out);
    return status;
}

static int load(const struct inquiry *inquiry, struct config *config)
{
    struct config_sources sources = {.file = inquiry->file,
                                     .environment = (const char *const *)environ,
                                     .chance = {fill_random, NULL}};
    struct mcpx_text errors = {0};
    enum mcpx_err err = config_load(&sources, &errors, config);

    if (errors.text)
        fwrite(errors.text, 1, errors.len, stderr);
    mcpx_text_fini(&errors);
    if (err)
        complain("can", "%s", mcpx_strerror(err));
    return !err ? STATUS_OK : err == MCPX_ECONFIG ? STATUS_USAGE : STATUS_FAILED;
}

int cmd_can(const struct arguments *arguments)
{
    static struct inquiry inquiry;
    struct config config = {0};
    struct grant *grant = NULL;
    enum mcpx_err err;
    int status = read_inquiry(arguments, &inquiry);

    if (status == STATUS_OK)
        status = load(&inquiry, &config);
    if (status != STATUS_OK)
        return status;
    err = tokens_participant(config.tokens, inquiry.participant, &grant);
    if (!err) {
        status = answer(grant, &inquiry, arguments_have(arguments, "--json"));
    } else if (err == MCPX_ENOTFOUND) {
        complain("can", "%s has no participant of that name", inquiry.file);
        status = STATUS_USAGE;
    } else {
        complain("can", "%s", mcpx_strerror(err));
        status = STATUS_FAILED;
    }
    grant_unref(grant);
    config_fini(&config);
    return status;
}
