/*
 * cmd_store.c - maintains the router's database. backup, check and export only read, so the router
 * may run. compact, erase and restore check that the router is stopped.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/edge/timer.h"
#include "router/store/sqlite/sqlite_maintenance.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/line.h"

#include <sys/stat.h>

/* Time between two lines about progress. */
enum { PROGRESS_MS = 5000 };

/*
 * A run of an action on a file.
 *
 * file        the file to open; for restore the copy
 * word        the other operand: a copy, a topic, or for restore the target
 */
struct run {
    const char *file, *word, *topic;
    bool json;
    struct schema_progress progress;
    struct maintenance *maintenance;
    struct mcpx_text errors; /* the message of a failed call, in a line */
    struct mcpx_text out;    /* printed at the end */
    struct maintenance_sums sums;
    int status;       /* of the output so far */
    int64_t since_ms; /* time of the last line about progress */
};

static void tell_progress(void *context, uint64_t done, uint64_t total)
{
    struct run *run = context;

    if (mx_clock_now().mono_ms - run->since_ms < PROGRESS_MS)
        return;
    run->since_ms = mx_clock_now().mono_ms;
    if (total > 0)
        complain("%llu of %llu done", (unsigned long long)done, (unsigned long long)total);
    else
        complain("still at work");
}

/* Closes the file and ends the program. */
_Noreturn static void end(struct run *run, int status)
{
    maintenance_close(run->maintenance);
    program_end(status);
}

/* Complains of an error, and ends the program with `status`; without the file with STATUS_USAGE. */
static void check_result(struct run *run, enum mcpx_err err, int status)
{
    struct mcpx_text *errors = &run->errors;

    if (err == MCPX_OK)
        return;
    if (memory_checked(err) == MCPX_ENOTFOUND)
        end(run, fail_with(STATUS_USAGE, "there is no file %s", run->file));
    if (errors->len > 0 && errors->text[errors->len - 1] == '\n')
        errors->len--;
    end(run, fail_with(status, "%.*s", (int)errors->len, errors->text));
}

static uint64_t size_of(const char *file)
{
    struct stat about;

    return stat(file, &about) == 0 ? (uint64_t)about.st_size : 0;
}

/* ---- backup ---- */

static int backup(struct run *run)
{
    check_result(run, maintenance_backup(run->maintenance, run->word, &run->errors),
                 STATUS_FAILED);
    text_format(&run->out,
                run->json ? "{\"file\":%q,\"copy\":%q,\"bytes\":%s}\n"
                          : "%s: copied to %s, %b\n",
                run->file, run->word, size_of(run->word));
    return STATUS_OK;
}

/* ---- check ---- */

static void print_damage(void *context, const struct maintenance_damage *damage)
{
    struct run *run = context;
    struct mcpx_text out = {0};

    if (!damage->topic.text)
        text_format(&out, run->json ? "{\"damage\":%q}\n" : "file: %s\n", damage->what);
    else if (run->json || damage->serial > 0)
        text_format(&out,
                    run->json ? "{\"topic\":%q,\"serial\":%s,\"damage\":%q}\n"
                              : "topic %s, serial %s: %s\n",
                    damage->topic, damage->serial, damage->what);
    else
        text_format(&out, "topic %s: %s\n", damage->topic, damage->what);
    run->status = output_print(&out, STATUS_FAILED);
}

static void inspect(struct run *run, void (*damage)(void *, const struct maintenance_damage *))
{
    struct maintenance_reader reader = {.damage = damage, .context = run};
    enum mcpx_err err = maintenance_check(run->maintenance, &reader, &run->sums, &run->errors);

    if (err == MCPX_OK)
        err = maintenance_walk(run->maintenance, NULL, &reader, &run->sums, &run->errors);
    check_result(run, err, STATUS_FAILED);
}

static int check(struct run *run)
{
    static const char *const words[][2] = {{"damaged", "whole"}, {"false", "true"}};
    const struct maintenance_sums *sums = &run->sums;

    inspect(run, print_damage);
    text_format(&run->out,
                run->json ? "{\"file\":%q,\"whole\":%s,\"topics\":%s,\"messages\":%s,"
                            "\"bytes\":%s}\n"
                          : "%s: %s: topics %s, messages %s, %b\n",
                run->file, words[run->json][sums->damages == 0], sums->topics, sums->messages,
                sums->bytes);
    return run->status;
}

/* ---- export ---- */

static void complain_of_damage(void *context, const struct maintenance_damage *damage)
{
    struct run *run = context;

    run->status = fail_of(STATUS_FAILED, damage->topic, ", serial %llu: %s; left out",
                          (unsigned long long)damage->serial, damage->what);
}

static bool print_message(void *context, const struct maintenance_message *message)
{
    struct mcpx_text out = {0};

    (void)context;
    mx_format(&out, "{\"topic\":%q,\"epoch\":%q,\"serial\":%s,\"wall_ms\":%s,\"envelope\":",
              message->topic, message->epoch, message->serial, message->wall_ms);
    envelope_write_json(&out, message->text);
    mcpx_text_puts(&out, "}\n");
    output_print(&out, STATUS_OK);
    return true;
}

static int export(struct run *run)
{
    struct maintenance_reader reader = {print_message, complain_of_damage, run};
    enum mcpx_err err =
        maintenance_walk(run->maintenance, run->topic, &reader, &run->sums, &run->errors);

    check_result(run, err, STATUS_FAILED);
    if (run->topic && run->sums.topics == 0)
        return fail_with(STATUS_ABSENT, "no topic of that name is stored");
    return run->status;
}

/* ---- what changes the file ---- */

static int compact(struct run *run)
{
    uint64_t before = size_of(run->file);

    check_result(run, maintenance_compact(run->maintenance, &run->errors), STATUS_FAILED);
    if (run->json)
        mx_format(&run->out, "{\"file\":%q,\"bytes_before\":%s,\"bytes\":%s}\n", run->file,
                  before, size_of(run->file));
    else
        text_format(&run->out, "%s: %b, before %b\n", run->file, size_of(run->file), before);
    return STATUS_OK;
}

static int erase(struct run *run)
{
    uint64_t messages = 0;
    enum mcpx_err err =
        maintenance_erase(run->maintenance, run->word, &messages, &run->errors);

    if (err == MCPX_ENOTFOUND)
        return fail_with(STATUS_ABSENT, "no topic of that name is stored");
    check_result(run, err, STATUS_FAILED);
    text_format(&run->out,
                run->json ? "{\"topic\":%q,\"messages\":%s}\n" : "%s: erased, messages %s\n",
                run->word, messages);
    return STATUS_OK;
}

static int restore(struct run *run)
{
    inspect(run, NULL);
    if (run->sums.damages > 0)
        return fail_with(STATUS_FAILED, "%s is damaged; store check says where", run->file);
    check_result(run, maintenance_restore(run->maintenance, run->word, &run->errors),
                 STATUS_FAILED);
    text_format(&run->out,
                run->json ? "{\"file\":%q,\"copy\":%q,\"messages\":%s}\n"
                          : "%s: restored from %s, messages %s\n",
                run->word, run->file, run->sums.messages);
    return STATUS_OK;
}

/* ---- the actions ---- */

/*
 * In the order of the verb's choices.
 *
 * words   number of operands
 * alone   no router may have the opened file
 */
static const struct action {
    size_t words;
    bool alone;
    int (*run)(struct run *run);
    const char *usage;
} actions[] = {
    {3, false, backup, "backup needs FILE and COPY"},
    {2, false, check, "check needs FILE alone"},
    {2, false, export, "export needs FILE alone"},
    {2, true, compact, "compact needs FILE alone"},
    {3, true, erase, "erase needs FILE and TOPIC"},
    {3, false, restore, "restore needs FILE and COPY"},
};

static int run_action(struct run *run, const struct action *action)
{
    enum mcpx_err err = maintenance_open(run->file, action->alone, &run->progress,
                                         &run->errors, &run->maintenance);
    int status;

    check_result(run, err, err == MCPX_ECONFIG ? STATUS_USAGE : STATUS_FAILED);
    status = action->run(run);
    maintenance_close(run->maintenance);
    mcpx_text_fini(&run->errors);
    return output_print(&run->out, status);
}

static int cmd_store(const struct arguments *arguments)
{
    struct run run = {.file = arguments->operands[1],
                      .topic = arguments_value(arguments, "--topic"),
                      .json = arguments_have(arguments, "--json"),
                      .progress = {tell_progress, &run},
                      .since_ms = mx_clock_now().mono_ms};
    const struct action *action = &actions[arguments_action(arguments)];

    if (arguments->operand_count != action->words)
        return fail_with(STATUS_USAGE, "%s", action->usage);
    if (run.topic && action->run != export)
        return fail_with(STATUS_USAGE, "--topic is for export");
    run.word = action->words > 2 ? arguments->operands[2] : NULL;
    if (action->run == restore) {
        run.file = run.word;
        run.word = arguments->operands[1];
    }
    return run_action(&run, action);
}

const struct command store_verbs[] = {
    {"store", "backup|check|export|compact|erase|restore FILE [WORD]", 2, 3, false,
     "look after the database that a router stores messages in",
     "backup copies FILE to WORD, where nothing may be, while the router goes on. check reads "
     "all of it and names what is not as it was written, by topic and serial. export prints "
     "the messages, one JSON object per line, of all topics or of that of --topic. compact "
     "gives back to the disk what the file does not need. erase removes the topic WORD with "
     "all its messages. restore puts the backup WORD in the place of FILE, which is kept as "
     "FILE.old. The last three need a stopped router. Exits 0 when it is done, 1 when "
     "something is damaged, or the disk or a running router is in the way, 2 when FILE is not "
     "there or no database of a router, 4 when there is no such topic.",
     OPTIONS(OPTION("--topic", "TOPIC", VALUE_TEXT, 0, "export: only messages of this topic"),
             JSON_OPTION("print JSON objects; export always does")),
     NULL, cmd_store, "keep"},
    {.name = NULL},
};
