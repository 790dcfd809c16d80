/*
 * vault.c - keeps the hub's tasks by name until the test answers them.
 */
#include "tests/support/vault.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static struct vault *latest;

struct vault *vault_new(struct hub_config config)
{
    struct vault *vault = calloc(1, sizeof *vault);

    cr_assert_not_null(vault);
    vault_end();
    latest = vault;
    config.needs_commit = true;
    vault->world = world_with(&config);
    return vault;
}

void vault_end(void)
{
    world_end();
    if (latest)
        mcpx_text_fini(&latest->taken);
    free(latest);
    latest = NULL;
}

static void name_task(struct vault_task *kept)
{
    static const char *const events[] = {
        [SUBMIT_JOIN] = "join", [SUBMIT_UPDATE] = "update", [SUBMIT_LEAVE] = "leave"};
    const struct submission *submission = kept->task.submission;
    struct mcpx_slice about = kept->task.topic;
    const char *event = kept->task.kind == TASK_OPEN ? "open" : "close";

    if (submission) {
        about = submission->what == SUBMIT_MESSAGE ? submission->id : submission->from;
        event = submission->what == SUBMIT_MESSAGE ? "" : events[submission->what];
    }
    snprintf(kept->name, sizeof kept->name, "%s%s%.*s", event, *event ? " " : "",
             (int)about.len, about.text);
}

void vault_take(struct vault *vault)
{
    struct task task;

    while (hub_next_task(world_hub(vault->world), &task)) {
        struct vault_task *kept = &vault->tasks[vault->count];

        cr_assert_lt(vault->count, (size_t)VAULT_MAX - 1);
        kept->task = task;
        name_task(kept);
        mcpx_text_puts(&vault->taken, kept->name);
        mcpx_text_puts(&vault->taken, "\n");
        vault->count += task.kind != TASK_CLOSE;
        cr_assert_eq(task.ticket == 0, task.kind == TASK_CLOSE);
    }
}

void vault_expect_at(struct vault *vault, const char *names, const char *file, int line)
{
    vault_take(vault);
    mcpx_text_puts(&vault->taken, "");
    cr_expect_str_eq(vault->taken.text, names, "%s:%d taken:\n%s\nexpected:\n%s", file, line,
                     vault->taken.text, names);
    mcpx_text_reset(&vault->taken);
}

static size_t place_of(struct vault *vault, const char *name)
{
    vault_take(vault);
    for (size_t i = 0; i < vault->count; i++)
        if (strcmp(vault->tasks[i].name, name) == 0)
            return i;
    cr_assert_fail("nobody has to store %s", name);
    return 0;
}

const struct task *vault_task(struct vault *vault, const char *name)
{
    return &vault->tasks[place_of(vault, name)].task;
}

static uint64_t give_back(struct vault *vault, size_t place)
{
    uint64_t ticket = vault->tasks[place].task.ticket;

    memmove(vault->tasks + place, vault->tasks + place + 1,
            (vault->count - place - 1) * sizeof *vault->tasks);
    vault->count--;
    return ticket;
}

void vault_commits(struct vault *vault, const char *name)
{
    hub_commit(world_hub(vault->world), give_back(vault, place_of(vault, name)),
               world_now(vault->world));
}

static void reject(struct vault *vault, const char *name, bool certain)
{
    struct rejection rejection = {MCPX_EUNAVAILABLE, 2000, certain};

    hub_reject(world_hub(vault->world), give_back(vault, place_of(vault, name)), &rejection,
               world_now(vault->world));
}

void vault_refuses(struct vault *vault, const char *name)
{
    reject(vault, name, true);
}

void vault_loses(struct vault *vault, const char *name)
{
    reject(vault, name, false);
}

void vault_commits_all(struct vault *vault)
{
    for (vault_take(vault); vault->count > 0; vault_take(vault))
        hub_commit(world_hub(vault->world), give_back(vault, 0), world_now(vault->world));
    mcpx_text_reset(&vault->taken);
}

void vault_joins(struct vault *vault, const char *name, const char *grants)
{
    world_joins(vault->world, name, grants);
    vault_commits_all(vault);
}
