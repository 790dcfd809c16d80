/*
 * loop.c - parts of every verb on an event loop. A signal is an event of the loop, so the code that
 * ends the program runs in the loop as all other code. A thread of libuv asks for a token, because
 * the loop must not wait for a router, or a disk, that does not answer. The client decides when to
 * reconnect. The router refuses an attempt without the new token; the program asks for it again.
 */
#include "tools/mcpx-bridge/edge/loop.h"

#include "lib/edge/timer.h"
#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpx-bridge/bridge.h"

#include <signal.h>
#include <unistd.h>

static struct bridge_limit limit; /* of the process, as its standard error is */

static const int signal_numbers[LOOP_SIGNALS] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

static void on_signal(uv_signal_t *handle, int number)
{
    struct loop_handles *handles = handle->data;

    handles->number = number;
    handles->on_end(handles->timer.data);
}

static void on_round(uv_prepare_t *round)
{
    uint64_t left = bridge_limit_take_left(&limit, mx_clock_now().mono_ms);

    (void)round;
    complaints_flush();
    if (left > 0)
        complain_of_missing(left, "they were too many");
}

bool loop_may_log(struct mcpx_slice sentence)
{
    return bridge_limit_allows(&limit, sentence, mx_clock_now().mono_ms);
}

/* As complain(), in one line and within the limit: the sentence may hold what others sent. */
static void print(struct mcpx_slice sentence)
{
    mx_scoped_text visible = {0};

    if (!loop_may_log(sentence))
        return;
    text_visible(&visible, sentence);
    complain("%s", visible.text ? visible.text : "");
}

void loop_act(struct mcpx_client *client, const struct bridge_action *action,
              struct bridge_outcome *outcome)
{
    struct mcpx_session *session = mcpx_client_session(client);

    if (action->type == BRIDGE_LOG)
        print(action->text);
    else if (action->type == BRIDGE_DROP)
        mcpx_session_drop(session, action->about);
    else if (action->type == BRIDGE_FORGET)
        mcpx_session_forget(session, action->about);
    else if (action->type == BRIDGE_RESPOND)
        outcome->err = mcpx_client_respond(client, action->about, action->text, NULL);
    else if (action->type == BRIDGE_SEND)
        outcome->err = mcpx_client_send(client, &action->draft, &outcome->id, NULL);
}

bool loop_ignores_hangup(void)
{
    struct sigaction action;

    return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void loop_handles_start(struct loop_handles *handles, uv_loop_t *loop,
                        void (*on_end)(void *user), void *user)
{
    handles->on_end = on_end;
    uv_timer_init(loop, &handles->timer);
    handles->timer.data = user;
    complain_without_waiting();
    mx_chance_fill(NULL, &limit.alike.key, sizeof limit.alike.key);
    uv_prepare_init(loop, &handles->round);
    uv_prepare_start(&handles->round, on_round);
    uv_unref((uv_handle_t *)&handles->round);
    for (size_t i = 0; i < LOOP_SIGNALS; i++) {
        uv_signal_init(loop, &handles->signals[i]);
        handles->signals[i].data = handles;
        if (signal_numbers[i] != SIGHUP || !loop_ignores_hangup())
            uv_signal_start(&handles->signals[i], on_signal, signal_numbers[i]);
    }
}

void loop_handles_close(struct loop_handles *handles)
{
    uv_close((uv_handle_t *)&handles->timer, NULL);
    uv_close((uv_handle_t *)&handles->round, NULL);
    for (size_t i = 0; i < LOOP_SIGNALS; i++)
        uv_close((uv_handle_t *)&handles->signals[i], NULL);
}

struct mcpx_instant loop_instant(const void *user)
{
    (void)user;
    return (struct mcpx_instant){mx_clock_now().wall_ms, (int64_t)(uv_hrtime() / 1000)};
}

void loop_chance(const void *user, void *bytes, size_t len)
{
    (void)user;
    mx_chance_fill(NULL, bytes, len);
}

int loop_left_status(int code)
{
    return code < 1000 || mcpx_error_again(code) == MCPX_AGAIN_TOKEN ? STATUS_UNREACHABLE
                                                                     : STATUS_FAILED;
}

/* ---- another token ---- */

enum { ASK_MS = 10000 };

static void ask(uv_work_t *work)
{
    struct renewal *renewal = work->data;

    renewal->status = connection_ask(renewal->where, ASK_MS, &renewal->token);
}

static void on_asked(uv_work_t *work, int status)
{
    struct renewal *renewal = work->data;
    bool is_file = renewal->where->token_file != NULL;

    renewal->busy = false;
    if (renewal->client && !status && renewal->status == STATUS_OK) {
        mcpx_client_renew(renewal->client, renewal->token);
        connection_take(renewal->where, renewal->token);
        renewal->token = NULL;
        complain(is_file ? "the token file has a new token" : "the router gave a new token");
    } else if (renewal->client && renewal->status == STATUS_ABSENT) {
        mcpx_client_renew(renewal->client, NULL);
        complain(is_file ? "the token file has no other token"
                         : "the router gives no tokens: it runs without --dev now");
    }
    connection_wipe(renewal->token);
    renewal->token = NULL;
}

void renewal_look(struct renewal *renewal, uv_loop_t *loop, const struct mcpx_event *event)
{
    bool renews = renewal->where->client.session.renews_token;

    /* A session that joined with the old token may need another one later. */
    if (event->type == MCPX_EVENT_JOINED)
        mcpx_session_renews_token(mcpx_client_session(renewal->client), renews);
    if (!connection_may_ask(renewal->where, event) || renewal->busy)
        return;
    renewal->work.data = renewal;
    renewal->busy = uv_queue_work(loop, &renewal->work, ask, on_asked) == 0;
}

/* ---- call log ---- */

static void say(void *user, const char *sentence)
{
    (void)user;
    complain("%s", sentence);
}

struct mx_log_files *records_open(const struct bridge_terms *terms)
{
    struct mx_log_files_config config = {
        .wall_ms = mx_clock_now().wall_ms, .pid = (long)getpid(), .complain = say};

    if (!terms || !mcpx_terms_log(terms->terms, &config.dir, &config.keep, &config.file_bytes))
        return NULL;
    return mx_log_files_open(&config);
}

void records_write(struct mx_log_files *files, struct mcpx_calls *calls)
{
    enum mcpx_record which;
    struct mcpx_slice line;

    while (calls && mcpx_calls_next_record(calls, &which, &line))
        if (files)
            mx_log_files_write(files, which, line);
}
