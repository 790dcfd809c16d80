/*
 * gate.c - what the items of a gate have in common: files, verdicts and calls.
 */
#include "tools/mcpxctl/gate/gate.h"

#include "lib/json/json_write.h"
#include "tools/common/input.h"
#include "tools/mcpxctl/core/line.h"
#include <mcpx/digest.h>
#include <mcpx/terms.h>

#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <unistd.h>

enum { ANSWER_MS = 60000, PAGES_MAX = 1000 };

bool gate_read_file(struct gate *gate, const char *path, struct mcpx_text *out,
                    struct mcpx_text *detail)
{
    if (access(path, R_OK) != 0) {
        mx_format(detail, "%s: %s", path, strerror(errno));
        return false;
    }
    gate->status = input_read(gate->arguments->command->name, path, out);
    return gate->status == STATUS_OK;
}

bool gate_read(struct gate *gate, const char *path, struct mcpx_text *text,
               struct mcpx_slice *value, struct mcpx_text *detail)
{
    struct mcpx_fault fault = {"", "", 0};

    if (!gate_read_file(gate, path, text, detail))
        return false;
    if (mcpx_json_check(mcpx_text_view(text), 0, value, &fault) == MCPX_OK)
        return true;
    mx_format(detail, "%s, byte %s: %s", path, fault.offset, fault.reason);
    return false;
}

bool gate_write(const char *path, struct mcpx_slice text, struct mcpx_text *detail)
{
    FILE *file = fopen(path, "we");
    bool written = file && fwrite(text.text, 1, text.len, file) == text.len;

    if (file && fclose(file) != 0)
        written = false;
    if (!written)
        mx_format(detail, "%s: %s", path, strerror(errno));
    return written;
}

bool gate_keeps(struct gate *gate, enum mcpx_contract contract, struct mcpx_slice text,
                struct mcpx_text *detail)
{
    enum mcpx_err err = memory_checked(
        mcpx_contracts_validate(gate->contracts, contract, text, &gate->judged));
    const struct mcpx_schema_error *error = gate->judged.errors;

    if (err)
        mx_format(detail, "breaks the contract %s at %s: %s", mcpx_contract_name(contract),
                  error->path.len > 0 ? error->path : MCPX_SLICE("its root"), error->message);
    return err == MCPX_OK;
}

bool gate_make_id(struct gate *gate, char id[GATE_ID_SIZE])
{
    unsigned char random[16];
    char digits[MCPX_ID_LEN + 1];

    if (RAND_bytes(random, sizeof random) != 1) {
        gate->status = fail_with(STATUS_FAILED, gate->arguments->command->name,
                                 "the system gives no random numbers");
        return false;
    }
    mcpx_id_random(random, digits);
    snprintf(id, GATE_ID_SIZE, "gate-%s", digits);
    return true;
}

void gate_meta(const struct gate *gate, const char *id, struct mcpx_text *out)
{
    struct mcpx_text quoted = {0};
    struct mcpx_json_change change = {"requestId", {NULL, 0}};

    mx_format(&quoted, "%q", id);
    change.value = mcpx_text_view(&quoted);
    mx_format(out, "{\"request_id\":%s", &quoted);
    if (gate->context.len > 0) {
        mcpx_text_puts(out, ",\"" MCPX_CONTEXT_MEMBER "\":");
        mcpx_json_add_changed(out, mcpx_text_view(&gate->context), &change, 1);
    }
    mcpx_text_puts(out, "}");
    mcpx_text_fini(&quoted);
}

/* Sends a request to the server and waits for the response. */
static bool ask(struct gate *gate, const struct mcpx_text *payload, struct mcpx_text *response)
{
    struct mcpx_slice to = mcpx_slice_of(arguments_value(gate->arguments, "--to"));
    struct mcpx_draft draft = {.type = "mcp/request",
                               .to = &to,
                               .to_count = 1,
                               .payload = mcpx_text_view(payload),
                               .timeout_ms = -1};
    int64_t timeout = arguments_ms(gate->arguments, "--timeout", ANSWER_MS);

    mcpx_text_reset(response);
    gate->status = live_send(&gate->live, &draft);
    gate->live.waiting_for = to.text;
    if (gate->status == STATUS_OK)
        gate->status = live_response(&gate->live, &draft, timeout, response);
    return gate->status == STATUS_OK;
}

bool gate_call(struct gate *gate, struct mcpx_slice tool, struct mcpx_slice arguments,
               struct mcpx_slice meta, struct mcpx_text *response)
{
    struct mcpx_text payload = {0};
    bool answered;

    mx_format(
        &payload,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":%q,"
        "\"arguments\":%s,\"_meta\":%s}}",
        tool, arguments, meta);
    answered = ask(gate, &payload, response);
    mcpx_text_fini(&payload);
    return answered;
}

bool gate_fetch_handshake(struct gate *gate)
{
    struct mcpx_text meta = {0}, response = {0};
    struct mcpx_slice answer;
    char id[GATE_ID_SIZE];
    bool done;

    if (gate->has_asked_for_handshake)
        return true;
    done = gate_make_id(gate, id);
    if (done)
        gate_meta(gate, id, &meta);
    done = done && gate_call(gate, MCPX_SLICE(MCPX_HANDSHAKE_TOOL), MCPX_SLICE("{}"),
                             mcpx_text_view(&meta), &response);
    answer =
        mcpx_json_get(mcpx_json_get(mcpx_text_view(&response), "result"), "structuredContent");
    if (done && answer.text)
        mcpx_text_slice(&gate->handshake, answer);
    gate->has_asked_for_handshake = done;
    mcpx_text_fini(&meta);
    mcpx_text_fini(&response);
    return done;
}

/* Adds the tools of a page. Returns its cursor, lent by the page. */
static struct mcpx_slice add_page(struct mcpx_text *tools, struct mcpx_slice page)
{
    struct mcpx_slice result = mcpx_json_get(page, "result");
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, mcpx_json_get(result, "tools"));
    while (mcpx_json_walk_next(&walk))
        mx_format(tools, "%s%s", tools->len > 1 ? "," : "", walk.value);
    return mcpx_json_get(result, "nextCursor");
}

bool gate_fetch_tools(struct gate *gate)
{
    struct mcpx_text response = {0}, payload = {0}, last = {0};
    struct mcpx_slice cursor = {NULL, 0};
    bool more = true;

    mcpx_text_reset(&gate->tools);
    mcpx_text_puts(&gate->tools, "[");
    for (int page = 0; more && page < PAGES_MAX; page++) {
        mcpx_text_reset(&payload);
        listing_write_request(&payload, listing_find("tools"), cursor);
        more = ask(gate, &payload, &response);
        if (more)
            cursor = add_page(&gate->tools, mcpx_text_view(&response));
        mcpx_text_reset(&last);
        mcpx_text_slice(&last, cursor);
        cursor = mcpx_text_view(&last);
        more = more && mcpx_json_type(cursor) == MCPX_JSON_STRING;
    }
    mcpx_text_puts(&gate->tools, "]");
    mcpx_text_fini(&last);
    mcpx_text_fini(&payload);
    mcpx_text_fini(&response);
    return gate->status == STATUS_OK;
}
