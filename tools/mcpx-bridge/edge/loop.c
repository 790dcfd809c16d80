/*
 * loop.c - log, signals and exit codes of the modes that live on an event loop. Signals are
 * taken by the loop, not by a handler with a flag, so that an ending runs where everything else
 * runs.
 */
#include "tools/mcpx-bridge/edge/loop.h"

#include "lib/edge/alarm.h"
#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpx-bridge/limit.h"

#include <signal.h>

static struct bridge_limit limit; /* of the process, as its standard error is */

static const int signal_numbers[LOOP_SIGNALS] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

static void on_signal(uv_signal_t *handle, int number)
{
    struct loop_signals *signals = handle->data;

    (void)number;
    signals->on_end(signals->user);
}

static void on_round(uv_prepare_t *round)
{
    uint64_t left = bridge_limit_take_left(&limit, mx_clock_now().mono_ms);

    (void)round;
    if (left > 0)
        complain("log", "%llu lines left out: there were too many", (unsigned long long)left);
    complain_again();
}

void loop_complaints_start(uv_prepare_t *round, uv_loop_t *loop)
{
    complain_without_waiting();
    mx_chance_fill(NULL, &limit.alike.key, sizeof limit.alike.key);
    uv_prepare_init(loop, round);
    uv_prepare_start(round, on_round);
    uv_unref((uv_handle_t *)round);
}

bool loop_may_log(struct mcpx_slice sentence)
{
    return bridge_limit_allows(&limit, sentence, mx_clock_now().mono_ms);
}

void loop_log(const char *verb, struct mcpx_slice sentence)
{
    struct mcpx_text visible = {0};

    if (!loop_may_log(sentence))
        return;
    text_visible(&visible, sentence);
    if (visible.text)
        complain(verb, "%s", visible.text);
    mcpx_text_fini(&visible);
}

static bool is_ignored(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void loop_signals_start(struct loop_signals *signals, uv_loop_t *loop,
                        void (*on_end)(void *user), void *user)
{
    signals->on_end = on_end;
    signals->user = user;
    for (size_t i = 0; i < LOOP_SIGNALS; i++) {
        uv_signal_init(loop, &signals->handles[i]);
        signals->handles[i].data = signals;
        if (signal_numbers[i] != SIGHUP || !is_ignored(SIGHUP))
            uv_signal_start(&signals->handles[i], on_signal, signal_numbers[i]);
    }
}

void loop_signals_close(struct loop_signals *signals)
{
    for (size_t i = 0; i < LOOP_SIGNALS; i++)
        uv_close((uv_handle_t *)&signals->handles[i], NULL);
}

int loop_left_status(int code)
{
    return code < 1000 || mcpx_error_again(code) == MCPX_AGAIN_TOKEN ? STATUS_UNREACHABLE
                                                                     : STATUS_FAILED;
}
