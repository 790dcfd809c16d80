/*
 * cmd_gate.c - may a server be released? The items of the release gate are a script, gate.py. This
 * verb runs it and serves its requests (see gate.py): it has the connection, the contracts and
 * canonical JSON, and it prints. So no token reaches the script.
 */
#define _GNU_SOURCE /* pipe2 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/json/json_write.h"
#include "tools/common/context.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/live.h"
#include <mcpx/contract.h>
#include <mcpx/digest.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MS = 60000, PYTHON_WORDS = 5, NO_PYTHON = 127 };

/* A running gate. */
struct gate {
    const struct arguments *arguments;
    struct live live;
    FILE *to, *from; /* the script's standard input and output */
    pid_t script;
    bool refused; /* an item failed, or with --release was skipped */
    int status;   /* why the gate cannot go on, having complained; STATUS_OK: it can */
};

/* ---- the requests of the script; each appends the answer's members ---- */

/* Appends a text of a request. A byte that is not UTF-8 arrives as half a surrogate pair. */
static void add_text(struct mcpx_text *out, struct mcpx_slice request, const char *name)
{
    if (mcpx_json_add_unescaped(out, mcpx_json_get(request, name)))
        return;
    mcpx_text_reset(out);
    mcpx_text_puts(out, "\xff");
}

/* Sends a request to the server and waits for the response. */
static void ask(struct gate *gate, struct mcpx_slice request, struct mcpx_text *out)
{
    struct mcpx_slice to = mcpx_slice_of(arguments_value(gate->arguments, "--to"));
    int64_t timeout = arguments_ms(gate->arguments, "--timeout", ANSWER_MS);
    mx_scoped_text params = {0}, payload = {0}, response = {0};
    struct mcpx_draft draft = {
        .type = "mcp/request", .to = &to, .to_count = 1, .timeout_ms = -1};

    add_text(&params, request, "params");
    mx_format(&payload, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":%s,\"params\":%s}",
              mcpx_json_get(request, "method"), &params);
    draft.payload = mcpx_text_view(&payload);
    gate->status = live_send(&gate->live, &draft);
    gate->live.waiting_for = to.text;
    if (gate->status == STATUS_OK)
        gate->status = live_response(&gate->live, &draft, timeout, &response);
    mx_format(out, "\"text\":%q", &response);
}

/* Validates a text by a contract. */
static void judge(struct gate *gate, struct mcpx_slice request, struct mcpx_text *out)
{
    MX_SCOPED(mcpx_schema_report_fini) struct mcpx_schema_report report = {.count = 0};
    const struct mcpx_schema_error *error = report.errors;
    mx_scoped_text name = {0}, text = {0}, fault = {0};
    enum mcpx_contract contract = MCPX_CONTRACT_EVENT;

    (void)gate;
    add_text(&name, request, "contract");
    add_text(&text, request, "text");
    mcpx_contract_find(mcpx_text_view(&name), &contract);
    if (contract_is_kept(contract, mcpx_text_view(&text), &report)) {
        mcpx_text_puts(out, "\"fault\":null");
    } else {
        mx_format(&fault, "breaks the contract %s at %s: %s", &name,
                  error->path.len > 0 ? error->path : MCPX_SLICE("its root"), error->message);
        mx_format(out, "\"fault\":%q", &fault);
    }
}

/* Answers with the comparable forms of a JSON document. */
static void read_document(struct gate *gate, struct mcpx_slice request, struct mcpx_text *out)
{
    mx_scoped_text text = {0}, fault_text = {0}, canonical = {0}, pretty = {0};
    struct mcpx_fault fault = {"", "", 0};
    char sum[MCPX_SHA256_LEN + 1];
    struct mcpx_slice value;

    (void)gate;
    add_text(&text, request, "text");
    if (mcpx_json_check(mcpx_text_view(&text), 0, &value, &fault) != MCPX_OK) {
        mx_format(&fault_text, "byte %s: %s", fault.offset, fault.reason);
        mx_format(out, "\"fault\":%q", &fault_text);
    } else {
        text_pretty(&pretty, value, 0);
        mx_format(out, "\"fault\":null,\"pretty\":%q", &pretty);
        if (memory_checked(mcpx_canonical_add(&canonical, value, NULL)) == MCPX_OK &&
            memory_checked(mcpx_digest_json(value, sum, NULL)) == MCPX_OK)
            mx_format(out, ",\"canonical\":%q,\"digest\":%q", &canonical, sum);
        else
            mcpx_text_puts(out, ",\"canonical\":null,\"digest\":null");
    }
}

/* Prints the verdict of an item. */
static void report(struct gate *gate, struct mcpx_slice request, struct mcpx_text *out)
{
    mx_scoped_text item = {0}, verdict = {0}, detail = {0}, line = {0}, shown = {0};

    add_text(&item, request, "item");
    add_text(&verdict, request, "verdict");
    add_text(&detail, request, "detail");
    mx_format(&line, "{\"item\":%q,\"verdict\":%q,\"detail\":%q}\n", &item, &verdict, &detail);
    if (arguments_have(gate->arguments, "--json")) {
        mx_format(&shown, "%s", &line);
    } else {
        mx_format(&shown, "%s  %s", &verdict, &item);
        for (size_t i = item.len; i < strlen("handshake"); i++)
            mcpx_text_puts(&shown, " ");
        text_format(&shown, "  %s\n", &detail);
    }
    output_print(&shown, STATUS_OK);
    fflush(stdout);
    gate->refused =
        gate->refused || strcmp(verdict.text, "fail") == 0 ||
        (strcmp(verdict.text, "skip") == 0 && arguments_have(gate->arguments, "--release"));
    mx_format(out, "\"line\":%q", &line);
}

/* Serves a request of the script, and answers. */
static void serve(struct gate *gate, struct mcpx_slice request)
{
    static const struct {
        const char *name;
        void (*run)(struct gate *gate, struct mcpx_slice request, struct mcpx_text *out);
    } requests[] = {
        {"ask", ask}, {"judge", judge}, {"read", read_document}, {"report", report}};
    mx_scoped_text answer = {0};

    mcpx_text_puts(&answer, "{");
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (mcpx_json_equals(mcpx_json_get(request, "do"), mcpx_slice_of(requests[i].name)))
            requests[i].run(gate, request, &answer);
    mcpx_text_puts(&answer, "}\n");
    if (gate->status == STATUS_OK)
        fwrite(answer.text, 1, text_whole(&answer).len, gate->to);
    fflush(gate->to);
}

/* ---- the script ---- */

/* Finds it beside the folder of this program, even after a move. */
static void find_script(char path[PATH_MAX])
{
    char own[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);

    own[len < 0 ? 0 : len] = '\0';
    snprintf(path, PATH_MAX, "%s/%s", dirname(own), MCPXCTL_GATE);
}

/* Appends the script's words of the command line. Returns their number. */
static size_t add_words(const struct arguments *arguments, char **words)
{
    static const char *const passed[] = {"--only", "--update", "--telemetry", "--sbom",
                                         "--evidence"};
    const struct option_word *word;
    size_t count = 0;

    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        for (size_t at = 0; (word = arguments_next(arguments, passed[i], &at));)
            words[count++] = word->value ? mx_formatted("%s=%s", passed[i], word->value).text
                                         : strdup(passed[i]);
    words[count++] = strdup("--");
    words[count++] = strdup(arguments->operands[0]);
    return count;
}

/* Runs the script with the ends of two pipes; a child without python3 ends with NO_PYTHON. */
static pid_t spawn(char **words, const int to[2], const int from[2])
{
    pid_t script = fork();

    if (script == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execvp(words[0], words);
        _exit(NO_PYTHON);
    }
    return script;
}

static int start(struct gate *gate)
{
    char path[PATH_MAX];
    char *words[PYTHON_WORDS + WORDS_MAX + 3] = {"python3", "-I", "-X", "utf8", path};
    size_t count = PYTHON_WORDS + add_words(gate->arguments, words + PYTHON_WORDS);
    int to[2] = {-1, -1}, from[2] = {-1, -1};

    find_script(path);
    /* A token in the environment is not for the script. */
    unsetenv("MCPX_TOKEN");
    secret_drop_others();
    gate->script = -1;
    if (pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0)
        gate->script = spawn(words, to, from);
    while (count > PYTHON_WORDS)
        free(words[--count]);
    if (gate->script < 0)
        return fail_with(STATUS_FAILED, "cannot run python3: %s", strerror(errno));
    close(to[0]);
    close(from[1]);
    gate->to = fdopen(to[1], "w");
    gate->from = fdopen(from[0], "r");
    return STATUS_OK;
}

/* Serves the script until it ends. */
static int run(struct gate *gate)
{
    struct mcpx_slice request;
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    int end = 0;

    while (gate->status == STATUS_OK && (len = getline(&line, &room, gate->from)) > 0) {
        request = (struct mcpx_slice){line, (size_t)len};
        if (mcpx_json_check(request, 0, &request, NULL) == MCPX_OK)
            serve(gate, request);
        else
            gate->status = STATUS_FAILED;
    }
    free(line);
    fclose(gate->to);
    fclose(gate->from);
    while (waitpid(gate->script, &end, 0) < 0 && errno == EINTR) {}
    if (gate->status == STATUS_OK && live_is_interrupted())
        return STATUS_INTERRUPTED;
    if (gate->status == STATUS_OK && WIFEXITED(end) && WEXITSTATUS(end) == NO_PYTHON)
        return fail_with(STATUS_FAILED, "python3 is not there: install python3");
    if (gate->status == STATUS_OK && end != 0)
        return fail_with(STATUS_FAILED, "the script gate.py failed");
    return gate->status == STATUS_OK && gate->refused ? STATUS_FAILED : gate->status;
}

/* ---- the verb ---- */

static int cmd_gate(const struct arguments *arguments)
{
    struct gate gate = {.arguments = arguments, .status = STATUS_OK};
    struct mcpx_slice to = mcpx_slice_of(arguments_value(arguments, "--to"));
    int status = live_join(arguments, 0, &gate.live);

    if (status == STATUS_OK)
        status = live_has_all(&gate.live, &to, 1, "mcpxctl who tells who is");
    if (status == STATUS_OK)
        status = start(&gate);
    if (status == STATUS_OK)
        status = run(&gate);
    live_leave(&gate.live);
    return status;
}

const struct command gate_verbs[] = {
    {"gate", "DIR", 1, 1, false, "may a server be released?",
     "Asks a server behind an enforcement point, live, and compares its answers with the "
     "files in DIR. Items are the handshake, contexts that are taken or refused, aliases that "
     "do what their tools do, telemetry in which every call has its end, schemas that did not "
     "change, a bill of materials, and evidence of all that. Prints a line for each: pass, "
     "fail or skip. The tools of aliases are called, with the arguments in their fixtures. "
     "Exits 0 when nothing failed, else 1.",
     OPTIONS(
         OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REQUIRED,
                "the server behind its enforcement point"),
         OPTION("--only", "handshake|context|aliases|telemetry|drift|sbom|evidence",
                VALUE_CHOICE, OPTION_REPEATED, "an item to ask about; else all"),
         SWITCH("--release", "an item that is skipped counts as failed"),
         SWITCH(
             "--update",
             "write capabilities.json and schemas.json anew instead of comparing with them"),
         OPTION("--telemetry", "FILE", VALUE_FILE, 0,
                "the telemetry of the enforcement point"),
         OPTION("--sbom", "FILE", VALUE_FILE, 0,
                "the bill of materials, of SPDX or CycloneDX, in JSON"),
         OPTION("--evidence", "DIR", VALUE_FILE, 0,
                "copy report, handshake, telemetry and bill to this folder, with a list of "
                "their SHA-256"),
         OPTION("--timeout", "S", VALUE_SECONDS, 0,
                "how long to wait for each response, 0 for ever; 60"),
         JSON_OPTION("print one JSON object for each item")),
     connect_options, cmd_gate, "contracts and releases"},
    {.name = NULL},
};
