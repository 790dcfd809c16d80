/*
 * fetch.c - pages of history until the router says that there are no more. Protocol: section 8.
 */
#include "tools/mcpxctl/fetch.h"

#include "lib/core/format.h"
#include "lib/core/percent.h"
#include "tools/common/http.h"
#include <mcpx/json.h>

enum { PAGE = 1000 };

static struct http_call call_of(const struct connection *where, const char *verb,
                                const char *path)
{
    return (struct http_call){.verb = verb,
                              .base = where->api,
                              .path = path,
                              .token = where->token,
                              .ca_file = where->client.ca_file,
                              .timeout_ms = where->timeout_ms,
                              .quiet = where->timeout_ms > 0};
}

int fetch_answer(const struct connection *where, const char *verb, const char *path,
                 const char *body, struct mcpx_text *answer)
{
    struct http_call call = call_of(where, verb, path);

    call.body = body;
    return http_do(&call, answer);
}

int fetch_delete(const struct connection *where, const char *verb, const char *path,
                 struct mcpx_text *answer)
{
    struct http_call call = call_of(where, verb, path);

    call.method = "DELETE";
    return http_do(&call, answer);
}

int fetch_about_topic(const struct connection *where, const char *verb, const char *path,
                      struct mcpx_text *answer)
{
    struct mcpx_text whole = {0};
    int status;

    mcpx_text_puts(&whole, "/v0.1/topics/");
    mx_percent_add(&whole, mcpx_slice_of(where->client.topic));
    mcpx_text_puts(&whole, path);
    if (whole.failed)
        status = complain_of_memory(verb);
    else
        status = fetch_answer(where, verb, whole.text, NULL, answer);
    mcpx_text_fini(&whole);
    return status;
}

static int complain_of_page(const char *verb, enum mcpx_err err)
{
    if (err == MCPX_ENOMEM)
        return complain_of_memory(verb);
    return fail_with(STATUS_FAILED, verb, "the router's history cannot be read: %s",
                     mcpx_strerror(err));
}

/* Adds a page; `*goes_on` is true when there may be another one. */
static enum mcpx_err add_page(struct mcpx_slice page, struct ledger *out, bool *goes_on)
{
    size_t added = 0;
    struct mcpx_json_walk walk;
    struct mcpx_slice value;
    struct mcpx_fault fault;
    enum mcpx_err err = mcpx_json_check(page, 0, &value, &fault);

    *goes_on = false;
    if (err)
        return err;
    if (mcpx_json_type(mcpx_json_get(value, "history")) != MCPX_JSON_ARRAY)
        return MCPX_EINVALID;
    *goes_on = mcpx_json_get(value, "next").text != NULL;
    mcpx_json_walk_start(&walk, mcpx_json_get(value, "history"));
    while (!err && mcpx_json_walk_next(&walk)) {
        struct entry *entry = NULL;

        err = entry_new(walk.value, &fault, &entry);
        if (!err)
            err = ledger_add(out, entry);
        added++;
    }
    *goes_on = *goes_on && added > 0;
    return err;
}

static int fetch_page(const struct connection *where, const char *verb, size_t limit,
                      const struct ledger *have, struct mcpx_text *answer)
{
    struct mcpx_text path = {0};
    int status;

    mx_format(&path, "/history?limit=%s", limit < PAGE ? limit : PAGE);
    if (have->count > 0) {
        mcpx_text_puts(&path, "&before=");
        mx_percent_add(&path, have->entries[have->count - 1]->id);
    }
    if (path.failed)
        status = complain_of_memory(verb);
    else
        status = fetch_about_topic(where, verb, path.text, answer);
    mcpx_text_fini(&path);
    return status;
}

int fetch_history(const struct connection *where, const char *verb, size_t limit,
                  struct ledger *out)
{
    bool more = limit > 0;
    enum mcpx_err err = MCPX_OK;

    while (more && !err) {
        struct mcpx_text answer = {0};
        size_t left = limit - out->count;
        int status = fetch_page(where, verb, left, out, &answer);

        if (status == STATUS_OK)
            err = add_page(mcpx_text_view(&answer), out, &more);
        mcpx_text_fini(&answer);
        if (status != STATUS_OK)
            return status;
        more = more && out->count < limit;
    }
    if (!err) {
        ledger_reverse(out);
        err = ledger_seal(out);
    }
    return err ? complain_of_page(verb, err) : STATUS_OK;
}

int fetch_complain_absent(const struct connection *where, const char *verb,
                          struct mcpx_slice word)
{
    complain_of(verb, word, ": no retained envelope of the topic %s has an id that begins so",
                where->client.topic);
    return STATUS_ABSENT;
}

int fetch_find(const struct connection *where, const char *verb, const struct ledger *ledger,
               const char *word, const struct entry **out)
{
    struct mcpx_slice beginning = mcpx_slice_of(word);
    enum mcpx_err err = ledger_find(ledger, beginning, out);

    if (!err)
        return STATUS_OK;
    if (err != MCPX_EDUPLICATE)
        return fetch_complain_absent(where, verb, beginning);
    complain_of(verb, beginning, ": several ids begin so; give more of it");
    return STATUS_USAGE;
}
