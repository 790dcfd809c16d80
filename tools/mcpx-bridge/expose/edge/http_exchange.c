/*
 * http_exchange.c - one request by HTTP: its head is judged, its body collected and handed on as a
 * line, and its connection suspended until the answer comes or its client leaves. MHD looks at no
 * socket that is suspended, so the loop does; a client that has ended its side counts as gone,
 * because that is all that can be seen of one that closed.
 */
#include "tools/mcpx-bridge/expose/edge/http.h"

#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/bridge.h"

#include <stdlib.h>
#include <strings.h>

/* Bytes of bodies and answers at one time; the rest is refused. */
enum { HELD_MAX = 192 << 20 };

/* Requests that wait for an answer at one time: fewer than there may be connections, so that there
 * is always one on which somebody can be told. And when to try again, in seconds. */
enum { WAITING_MAX = 240 };
static const char retry_s[] = "5";

struct expose_http_watch {
    uv_poll_t poll;
    struct expose_http_exchange *exchange;
};

/* ---- what it holds ---- */

static void let_go(struct expose_http_exchange *exchange)
{
    exchange->http->held -= exchange->held;
    exchange->held = 0;
}

/* All that the address of an exchange holds. */
static size_t held_by_client(const struct expose_http_exchange *exchange)
{
    size_t sum = 0;

    for (const struct expose_http_exchange *other = exchange->http->exchanges; other;
         other = other->next)
        if (other->held > 0 &&
            expose_http_same_client(other->connection, exchange->connection))
            sum += other->held;
    return sum;
}

/* The largest unfinished body of the address that holds most gives way, to one that holds less. */
static bool make_room(const struct expose_http_exchange *exchange, size_t bytes)
{
    struct expose_http_exchange *victim = NULL;
    size_t most = held_by_client(exchange) + bytes;

    for (struct expose_http_exchange *other = exchange->http->exchanges; other;
         other = other->next) {
        size_t held = other->body.len > 0 ? held_by_client(other) : 0;

        if (held > most || (victim && held == most && other->held > victim->held)) {
            most = held;
            victim = other;
        }
    }
    if (!victim)
        return false;
    mcpx_text_fini(&victim->body);
    let_go(victim);
    victim->drops = true;
    return true;
}

static bool hold(struct expose_http_exchange *exchange, size_t bytes)
{
    while (bytes > HELD_MAX - exchange->http->held)
        if (!make_room(exchange, bytes))
            return false;
    exchange->held += bytes;
    exchange->http->held += bytes;
    return true;
}

/* ---- waiting ---- */

static void on_watch_closed(uv_handle_t *handle)
{
    struct expose_http *http = handle->data;

    free(handle);
    expose_http_release(http);
}

static void unwatch(struct expose_http_exchange *exchange)
{
    struct expose_http_watch *watch = exchange->watch;

    if (!watch)
        return;
    exchange->watch = NULL;
    watch->exchange = NULL;
    uv_poll_stop(&watch->poll);
    uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
}

static void go_on(struct expose_http_exchange *exchange)
{
    if (!exchange->watch)
        return;
    unwatch(exchange);
    MHD_resume_connection(exchange->connection);
    expose_http_soon(exchange->http);
}

/* Nobody waits for the answer any more. */
static void withdraw(struct expose_http_exchange *exchange)
{
    struct expose_http *http = exchange->http;
    struct mcpx_text line;

    if (!exchange->number)
        return;
    line = expose_post_cancel(exchange->number);
    exchange->number = 0;
    http->config.on_line(http->config.user, mcpx_text_view(&line));
    mcpx_text_fini(&line);
}

static void on_left(uv_poll_t *poll, int status, int events)
{
    struct expose_http_exchange *exchange = ((struct expose_http_watch *)poll)->exchange;

    (void)status;
    (void)events;
    exchange->is_gone = true;
    go_on(exchange);
    withdraw(exchange);
}

/* Returns false when it cannot be watched: it then does not wait. */
static bool wait(struct expose_http_exchange *exchange)
{
    struct expose_http *http = exchange->http;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct expose_http_watch *watch = calloc(1, sizeof *watch);

    if (!info || uv_poll_init(http->config.loop, &watch->poll, info->connect_fd) < 0) {
        free(watch);
        return false;
    }
    http->open++;
    watch->poll.data = http;
    watch->exchange = exchange;
    exchange->watch = watch;
    uv_poll_start(&watch->poll, UV_DISCONNECT, on_left);
    expose_http_touch(http, exchange->connection, false);
    MHD_suspend_connection(exchange->connection);
    return true;
}

/* ---- the answer ---- */

static struct mcpx_text refusal(struct mcpx_slice id, int code, const char *sentence)
{
    struct mcpx_text out = {0};

    bridge_add_error(&out, id, code, mcpx_slice_of(sentence), (struct mcpx_slice){0});
    return out;
}

void expose_http_say(struct expose_http_exchange *exchange, int status,
                     struct mcpx_text answer)
{
    exchange->number = 0;
    exchange->is_said = true;
    exchange->status = status;
    if (!hold(exchange, answer.len)) {
        mcpx_text_fini(&answer);
        answer = refusal(mcpx_text_view(&exchange->id), BRIDGE_UNAVAILABLE,
                         "too many bodies and answers are on their way");
        exchange->status = MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    mcpx_text_fini(&exchange->answer);
    exchange->answer = answer;
    go_on(exchange);
}

/* Says why one more request may not wait. Returns false when it may. */
static bool refuse_to_wait(struct expose_http_exchange *exchange)
{
    size_t own = 0, all = 0;

    for (const struct expose_http_exchange *other = exchange->http->exchanges; other;
         other = other->next) {
        if (!other->watch)
            continue;
        all++;
        own += expose_http_same_client(other->connection, exchange->connection);
    }
    if (own < WAITING_MAX / 2 && all < WAITING_MAX)
        return false;
    expose_http_say(
        exchange, own ? MHD_HTTP_TOO_MANY_REQUESTS : MHD_HTTP_SERVICE_UNAVAILABLE,
        refusal(
            mcpx_text_view(&exchange->id), BRIDGE_UNAVAILABLE,
            own ? "as many requests from your address wait for answers as there is room for"
                : "too many requests wait for answers"));
    return true;
}

static enum MHD_Result send_answer(struct expose_http_exchange *exchange)
{
    struct mcpx_text *answer = &exchange->answer;
    struct mcpx_slice body = text_whole(answer);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(body.len, answer->text, MHD_RESPMEM_MUST_FREE);
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    *answer = (struct mcpx_text){0}; /* the response's now */
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (exchange->status != MHD_HTTP_ACCEPTED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    if (exchange->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "POST");
    if (exchange->status == MHD_HTTP_TOO_MANY_REQUESTS ||
        exchange->status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, retry_s);
    if (exchange->fault || exchange->drops)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    expose_http_touch(exchange->http, exchange->connection, true);
    result = MHD_queue_response(exchange->connection, (unsigned)exchange->status, response);
    MHD_destroy_response(response);
    if (result == MHD_YES && !exchange->is_sent)
        exchange->http->unwritten++;
    exchange->is_sent |= result == MHD_YES;
    return result;
}

static enum MHD_Result send_fault(struct expose_http_exchange *exchange)
{
    const struct expose_post_fault *fault = exchange->fault;

    expose_http_say(exchange, fault->status,
                    refusal((struct mcpx_slice){0}, BRIDGE_BAD_REQUEST, fault->sentence));
    return send_answer(exchange);
}

/* ---- the head ---- */

/* `end`: where the last text of the head ends in MHD's memory. */
struct reading {
    struct expose_http_exchange *exchange;
    struct expose_post_head head;
    const char *end;
};

/*
 * The next text of the head. MHD before 1.0 gives texts that end at the first NUL, and no lengths,
 * but leaves them where they came; so if more lies between them than has to, something is hidden.
 */
static void follow(struct reading *reading, struct mcpx_slice text, size_t least, size_t most)
{
    uintptr_t between = (uintptr_t)text.text - (uintptr_t)reading->end;

    reading->head.has_nul |= between < least || between > most;
    reading->end = text.text + text.len;
}

static enum MHD_Result read_field(void *user, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    struct reading *reading = user;
    struct expose_post_head *head = &reading->head;
    const struct {
        const char *name;
        struct mcpx_slice *value;
    } rows[] = {{MHD_HTTP_HEADER_HOST, &head->host},
                {MHD_HTTP_HEADER_ORIGIN, &head->origin},
                {MHD_HTTP_HEADER_CONTENT_TYPE, &head->type},
                {MHD_HTTP_HEADER_CONTENT_LENGTH, &head->length},
                {MHD_HTTP_HEADER_TRANSFER_ENCODING, &head->encoding}};

    (void)kind;
    follow(reading, mcpx_slice_of(name), 2, 2);                          /* CR LF */
    follow(reading, mcpx_slice_of(value ? value : ""), 1, SIZE_MAX / 2); /* ":" and blanks */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcasecmp(name, rows[i].name) != 0)
            continue;
        head->is_twice |= rows[i].value->text != NULL;
        *rows[i].value = mcpx_slice_of(value ? value : "");
    }
    if (strcasecmp(name, MHD_HTTP_HEADER_ACCEPT) == 0)
        reading->exchange->wants_events |= expose_post_wants_events(mcpx_slice_of(value));
    return MHD_YES;
}

/* In the order of its bytes. A target in which something was decoded or cut off is no path here. */
static void read_head(struct reading *reading, struct MHD_Connection *connection,
                      const char *version)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    struct expose_post_head *head = &reading->head;

    reading->end = head->method.text;
    follow(reading, head->method, 0, 0);
    follow(reading, head->path, 1, 1);
    if (reading->end + 1 != version)
        head->path = (struct mcpx_slice){0};
    reading->end = version + (version ? strlen(version) : 0);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, read_field, reading);
    if (info)
        follow(reading, (struct mcpx_slice){head->method.text + info->header_size, 0}, 4, 4);
    head->has_nul = (head->has_nul || !info) && *MHD_get_version() == '0';
}

static struct expose_http_exchange *begin(struct expose_http *http,
                                          struct MHD_Connection *connection, const char *url,
                                          const char *method, const char *version)
{
    struct expose_http_exchange *exchange = calloc(1, sizeof *exchange);
    struct reading reading = {
        .exchange = exchange,
        .head = {.method = mcpx_slice_of(method), .path = mcpx_slice_of(url)}};

    exchange->http = http;
    exchange->connection = connection;
    exchange->next = http->exchanges;
    if (exchange->next)
        exchange->next->previous = exchange;
    http->exchanges = exchange;
    expose_http_touch(http, connection, true);
    read_head(&reading, connection, version);
    exchange->fault = expose_post_judge(&reading.head, http->config.body_max);
    /* Refused at once where no body comes, too much of it, or nobody knows where it ends. */
    exchange->is_ready =
        exchange->fault &&
        (exchange->fault->status == MHD_HTTP_CONTENT_TOO_LARGE ||
         exchange->fault->status == MHD_HTTP_BAD_REQUEST ||
         (!reading.head.length.text && !reading.head.encoding.text) ||
         MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT));
    return exchange;
}

/* ---- the body ---- */

/* Returns false when even reading on would help nobody. */
static bool take(struct expose_http_exchange *exchange, const char *bytes, size_t len)
{
    size_t max = exchange->http->config.body_max;

    exchange->drops |= !exchange->fault && exchange->body.len + len > max;
    if (!exchange->fault && !exchange->drops && hold(exchange, len)) {
        mcpx_text_add(&exchange->body, bytes, len);
        return true;
    }
    exchange->drops = true;
    exchange->dropped += len;
    return exchange->dropped <= max;
}

static void refuse_body(struct expose_http_exchange *exchange)
{
    bool is_long = exchange->dropped + exchange->body.len > exchange->http->config.body_max;

    expose_http_say(
        exchange, is_long ? MHD_HTTP_CONTENT_TOO_LARGE : MHD_HTTP_SERVICE_UNAVAILABLE,
        refusal((struct mcpx_slice){0}, is_long ? BRIDGE_BAD_REQUEST : BRIDGE_UNAVAILABLE,
                is_long ? "the body is longer than this bridge reads"
                        : "too many bodies and answers are on their way"));
}

/* The line is handled at once; its answer may come from within, or later. */
static void hand_on(struct expose_http_exchange *exchange)
{
    struct expose_http *http = exchange->http;
    struct mcpx_text line = {0};
    struct mcpx_slice id;
    int64_t number = ++http->last_number;
    enum expose_post_form form =
        expose_post_read(mcpx_text_view(&exchange->body), number, &line, &id);

    mcpx_text_slice(&exchange->id, id);
    if (form == EXPOSE_POST_NOTICE) {
        expose_http_say(exchange, MHD_HTTP_ACCEPTED, (struct mcpx_text){0});
    } else if (form != EXPOSE_POST_REQUEST || !refuse_to_wait(exchange)) {
        exchange->number = form == EXPOSE_POST_REQUEST ? number : 0;
        http->current = exchange;
        http->config.on_line(http->config.user, mcpx_text_view(&line));
        http->current = NULL;
    }
    mcpx_text_fini(&line);
    mcpx_text_fini(&exchange->body);
    if (!exchange->is_said)
        let_go(exchange);
}

static enum MHD_Result finish(struct expose_http_exchange *exchange)
{
    if (exchange->is_gone)
        return MHD_NO;
    if (exchange->fault)
        return send_fault(exchange);
    if (!exchange->is_asked && exchange->drops)
        refuse_body(exchange);
    else if (!exchange->is_asked && exchange->http->is_ending)
        expose_http_say(
            exchange, MHD_HTTP_SERVICE_UNAVAILABLE,
            refusal((struct mcpx_slice){0}, BRIDGE_UNAVAILABLE, "the bridge is ending"));
    else if (!exchange->is_asked)
        hand_on(exchange);
    exchange->is_asked = true;
    if (exchange->is_said)
        return send_answer(exchange);
    return wait(exchange) ? MHD_YES : MHD_NO;
}

/* The parameters are MHD's. NOLINTNEXTLINE(readability-function-size) */
enum MHD_Result expose_http_request(void *user, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *bytes, size_t *len, void **context)
{
    struct expose_http_exchange *exchange = *context;
    bool fine;

    if (!exchange) {
        exchange = begin(user, connection, url, method, version);
        *context = exchange;
        return exchange->is_ready ? send_fault(exchange) : MHD_YES;
    }
    if (*len == 0)
        return finish(exchange);
    fine = take(exchange, bytes, *len);
    *len = 0;
    return fine ? MHD_YES : MHD_NO;
}

void expose_http_over(void *user, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode why)
{
    struct expose_http_exchange *exchange = *context;
    struct expose_http *http = user;

    (void)why;
    if (!exchange)
        return;
    *context = NULL;
    unwatch(exchange);
    withdraw(exchange);
    expose_http_touch(http, connection, true);
    http->unwritten -= exchange->is_sent ? 1 : 0;
    let_go(exchange);
    *(exchange->previous ? &exchange->previous->next : &http->exchanges) = exchange->next;
    if (exchange->next)
        exchange->next->previous = exchange->previous;
    mcpx_text_fini(&exchange->body);
    mcpx_text_fini(&exchange->answer);
    mcpx_text_fini(&exchange->id);
    free(exchange);
}
