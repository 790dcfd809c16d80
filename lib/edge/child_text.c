/*
 * child_text.c - what people read about a child: how it ended, and what it wrote to its standard
 * error, which is another program's text on a terminal: no escape sequence gets through.
 */
#include "lib/core/format.h"
#include "lib/edge/child_state.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
               {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
               {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
               {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
               {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
               {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};

static const char *signal_name(int number)
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signals[i].number == number)
            return signals[i].name;
    return "another signal";
}

static void describe_fault(struct mcpx_child *child)
{
    const struct mx_child_run *run = &child->run;
    char why[128] = "unknown error";
    char *text = child->text;

    (void)strerror_r(run->fault, why, sizeof why);
    if (run->step == MX_STEP_PROGRAM)
        snprintf(text, sizeof child->text, "cannot execute '%.120s': %s",
                 child->config.argv[0], why);
    else if (run->step == MX_STEP_FOLDER)
        snprintf(text, sizeof child->text, "cannot enter the directory '%.120s': %s",
                 child->config.cwd, why);
    else
        snprintf(text, sizeof child->text, "cannot start a process: %s", why);
}

/* What could not be killed belongs to another user, or the kernel holds it. */
static void add_left(struct mcpx_child *child)
{
    size_t len = strlen(child->text);

    snprintf(child->text + len, sizeof child->text - len,
             "; %zu of its processes cannot be killed", child->run.left);
}

void mx_child_describe(struct mcpx_child *child)
{
    const struct mx_child_run *run = &child->run;
    int number = WIFSIGNALED(run->status) ? WTERMSIG(run->status) : 0;
    char *text = child->text;

    if (run->fault)
        describe_fault(child);
    else if (child->state == MCPX_CHILD_STARTING || child->state == MCPX_CHILD_RUNNING)
        snprintf(text, sizeof child->text, "is %s",
                 child->state == MCPX_CHILD_RUNNING ? "running" : "starting");
    else if (!run->ended)
        snprintf(text, sizeof child->text, "was killed with the process that looked after it");
    else if (run->closed && number == SIGKILL)
        snprintf(text, sizeof child->text, "closed its output");
    else if (number)
        snprintf(text, sizeof child->text, "killed by signal %d (%s)", number,
                 signal_name(number));
    else
        snprintf(text, sizeof child->text, "exited with code %d", WEXITSTATUS(run->status));
    if (run->left)
        add_left(child);
}

/* Controls of ASCII, and the 32 of Unicode that begin with C2: terminals know both. */
static size_t control_len(const unsigned char *at, size_t left)
{
    if ((at[0] < 0x20 && at[0] != '\t') || at[0] == 0x7f)
        return 1;
    return at[0] == 0xc2 && left > 1 && at[1] >= 0x80 && at[1] < 0xa0 ? 2 : 0;
}

void mx_child_label(struct mcpx_text *out, const char *name, struct mcpx_slice line, bool cut)
{
    const unsigned char *at = (const unsigned char *)line.text;
    size_t start = 0;
    char escape[8];

    mx_format(out, "[%s] ", name);
    for (size_t i = 0; i < line.len; i++) {
        size_t control = control_len(at + i, line.len - i);

        if (!control)
            continue;
        mcpx_text_add(out, line.text + start, i - start);
        i += control - 1;
        start = i + 1;
        snprintf(escape, sizeof escape, "\\x%02x", (unsigned)at[i]);
        mcpx_text_puts(out, escape);
    }
    mcpx_text_add(out, line.text + start, line.len - start);
    mcpx_text_puts(out, cut ? "...\n" : "\n");
}
