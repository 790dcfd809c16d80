/*
 * fetch.c - pages of history until the router says that there are no more. Protocol: section 8.
 */
#include "tools/mcpxctl/fetch.h"

#include "lib/core/format.h"
#include "lib/core/percent.h"
#include "tools/common/http.h"
#include <mcpx/json.h>

enum { PAGE = 1000, OLDER_MS = 30000 };

static struct http_call call_of(const struct connection *where, const char *verb,
                                const char *path)
{
    return (struct http_call){.verb = verb,
                              .base = where->api,
                              .path = path,
                              .token = where->token,
                              .ca_file = where->client.ca_file,
                              .cert_file = where->client.cert_file,
                              .key_file = where->client.key_file,
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

/*
 * How far the history was read: `last` is the id behind which the next page begins, absent before
 * the first one. `more` is true while there may be another page.
 */
struct paging {
    fetch_taker take;
    void *context;
    size_t limit, count;
    struct mcpx_text last;
    bool more;
};

static enum mcpx_err take_envelope(struct paging *paging, struct mcpx_slice text,
                                   struct mcpx_text *id)
{
    struct mcpx_fault fault;
    struct entry *entry = NULL;
    enum mcpx_err err = entry_new(text, &fault, &entry);

    if (err)
        return err;
    mcpx_text_reset(id);
    mcpx_text_slice(id, entry->id);
    paging->count++;
    return paging->take(paging->context, entry);
}

/* A page that ends with the id behind which it was to begin would be followed by itself
 * for ever. */
static enum mcpx_err take_page(struct paging *paging, struct mcpx_slice page)
{
    struct mcpx_text id = {0};
    struct mcpx_json_walk walk;
    struct mcpx_slice value;
    struct mcpx_fault fault;
    enum mcpx_err err = mcpx_json_check(page, 0, &value, &fault);

    if (!err && mcpx_json_type(mcpx_json_get(value, "history")) != MCPX_JSON_ARRAY)
        err = MCPX_EINVALID;
    if (err)
        return err;
    mcpx_json_walk_start(&walk, mcpx_json_get(value, "history"));
    while (!err && mcpx_json_walk_next(&walk))
        err = take_envelope(paging, walk.value, &id);
    if (!err && id.failed)
        err = MCPX_ENOMEM;
    paging->more = mcpx_json_get(value, "next").text && id.len > 0;
    if (!err && paging->more &&
        mcpx_slice_equal(mcpx_text_view(&id), mcpx_text_view(&paging->last)))
        err = MCPX_EDUPLICATE;
    mcpx_text_fini(&paging->last);
    paging->last = id;
    return err;
}

/*
 * Asks for what is older than an envelope. That may have left the history meanwhile, and all that
 * is older with it: then `more` is false. Whatever else is wrong is asked for again, to be
 * complained of.
 */
static int fetch_older(const struct connection *where, const char *verb, const char *path,
                       struct paging *paging, struct mcpx_text *answer)
{
    struct connection quietly = *where;
    int status;

    if (quietly.timeout_ms == 0)
        quietly.timeout_ms = OLDER_MS;
    status = fetch_about_topic(&quietly, verb, path, answer);
    paging->more = status != STATUS_ABSENT;
    if (status == STATUS_OK || !paging->more)
        return STATUS_OK;
    mcpx_text_reset(answer);
    return fetch_about_topic(where, verb, path, answer);
}

static int fetch_page(const struct connection *where, const char *verb, struct paging *paging,
                      struct mcpx_text *answer)
{
    size_t left = paging->limit - paging->count;
    struct mcpx_text path = {0};
    int status;

    mx_format(&path, "/history?limit=%s", left < PAGE ? left : PAGE);
    if (paging->last.len > 0) {
        mcpx_text_puts(&path, "&before=");
        mx_percent_add(&path, mcpx_text_view(&paging->last));
    }
    if (path.failed)
        status = complain_of_memory(verb);
    else if (paging->last.len > 0)
        status = fetch_older(where, verb, path.text, paging, answer);
    else
        status = fetch_about_topic(where, verb, path.text, answer);
    mcpx_text_fini(&path);
    return status;
}

int fetch_each(const struct connection *where, const char *verb, size_t limit,
               fetch_taker take, void *context)
{
    struct paging paging = {.take = take, .context = context, .limit = limit, .more = true};
    enum mcpx_err err = MCPX_OK;
    int status = STATUS_OK;

    while (paging.more && paging.count < limit && !err && status == STATUS_OK) {
        struct mcpx_text answer = {0};

        status = fetch_page(where, verb, &paging, &answer);
        if (status == STATUS_OK && paging.more)
            err = take_page(&paging, mcpx_text_view(&answer));
        mcpx_text_fini(&answer);
    }
    mcpx_text_fini(&paging.last);
    return err ? complain_of_page(verb, err) : status;
}

static enum mcpx_err add_to_ledger(void *context, struct entry *entry)
{
    return ledger_add(context, entry);
}

int fetch_history(const struct connection *where, const char *verb, size_t limit,
                  struct ledger *out)
{
    int status = fetch_each(where, verb, limit, add_to_ledger, out);

    if (status != STATUS_OK)
        return status;
    ledger_reverse(out);
    return ledger_seal(out) ? complain_of_memory(verb) : STATUS_OK;
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
