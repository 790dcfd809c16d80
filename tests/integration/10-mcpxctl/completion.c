/*
 * What breaks for whom: a key press in a shell offers what the program does not know, hides what it
 * knows, waits for a router that is not there, or prints a complaint into a half-typed line. Each
 * shell that is installed runs the script that mcpxctl prints for it.
 */
#include "stage.h"
#include "tests/support/outside.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * What a shell runs to print its offers for the line in $L, one per line, as typed but for quoting.
 * bash and zsh run the function as at a key press, with bash's words cut as bash does it.
 */
static const struct shell {
    const char *name;
    const char *offers;
} shells[] = {
    {"bash", "source <(mcpxctl completion bash)\n"
             "COMP_LINE=\"mcpxctl $L\"; COMP_POINT=${#COMP_LINE}; cut=${COMP_LINE//:/ : }\n"
             "eval \"COMP_WORDS=(${cut//=/ = })\"; [[ $COMP_LINE != *[\\ :=] ]] || "
             "COMP_WORDS+=(\"\")\n"
             "COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _mcpxctl\n"
             "for w in \"${COMPREPLY[@]}\"; do eval \"printf '%s\\n' $w\"; done\n"},
    {"zsh", "compdef() { : }\n"
            "_describe() { print -rl -- \"${(@)offers%%:*}\" }\n"
            "source <(mcpxctl completion zsh)\n"
            "words=(mcpxctl ${(z)L}); [[ $L != (|*\\ ) ]] || words+=('')\n"
            "CURRENT=$#words; PREFIX=$words[-1]; _mcpxctl\n"},
    {"fish", "source (mcpxctl completion fish | psub)\n"
             "complete -C \"mcpxctl $L\" | string replace -r '\\t.*' '' | string unescape\n"},
};

/* True when the shell is there; says loudly when not. */
static bool has_shell(const char *name)
{
    char line[64];

    snprintf(line, sizeof line, "command -v %s", name);
    if (run(line) == 0)
        return true;
    fprintf(stderr, "SKIPPED: %s is not installed, its completion is not tested\n", name);
    return false;
}

/* Leaves the shell's offers in `output`, sorted. */
static void complete(const struct shell *shell, const char *typed)
{
    setenv("L", typed, 1);
    setenv("SCRIPT", shell->offers, 1);
    cr_assert_eq(setenv("SHELL_NAME", shell->name, 1), 0);
    run("PATH=\"$MCPX_BINARY_DIR/bin:$PATH\" $SHELL_NAME -c \"$SCRIPT\" 2>&1 | sort");
}

/* A home of their own: shells keep files there. */
static char home[] = "/tmp/mcpxctl-completion-XXXXXX";

static void set_up(void)
{
    static const char *const variables[] = {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
                                            "XDG_CACHE_HOME"};

    stage_set_up();
    cr_assert_not_null(mkdtemp(home));
    for (size_t i = 0; i < COUNT(variables); i++)
        setenv(variables[i], home, 1);
    setenv("LC_ALL", "C", 1);
}

static void tear_down(void)
{
    folder_remove(home);
    stage_tear_down();
}

TestSuite(completion, .init = set_up, .fini = tear_down, .timeout = 300);

Test(completion, scripts_are_scripts)
{
    for (size_t i = 0; i < COUNT(shells); i++) {
        char line[128];

        snprintf(line, sizeof line, "mcpxctl completion %s | %s -n /dev/stdin 2>&1",
                 shells[i].name, shells[i].name);
        if (has_shell(shells[i].name))
            expect(line, 0, "");
        cr_expect_str_eq(output[0] == '/' ? "" : output, "", "%s", output);
    }
    expect("mcpxctl completion tcsh 2>&1", 2, "needs bash|zsh|fish as its first word");
}

/* Leaves the words that help prints in front of the table's rows in `table`, sorted. */
static void read_table(const char *verb, const char *more, char table[OUTPUT_MAX])
{
    char line[512];

    snprintf(line, sizeof line,
             "(printf '%%s\\n' %s; mcpxctl %s --help | "
             "sed -n 's/^  \\(%s[a-z0-9-]*\\)%s.*/\\1/p') | sort",
             more, verb, verb[0] ? "--" : "", verb[0] ? " " : "  ");
    cr_assert_eq(run(line), 0);
    snprintf(table, OUTPUT_MAX, "%s", output);
}

/* The help prints the table another way. */
Test(completion, offers_are_those_of_the_table)
{
    static char verbs[OUTPUT_MAX], table[OUTPUT_MAX];

    for (size_t i = 0; i < COUNT(shells); i++) {
        char *rest = NULL;

        if (!has_shell(shells[i].name))
            continue;
        read_table("", "--help --man --version", table);
        complete(&shells[i], "");
        cr_expect_str_eq(output, table, "%s offers: %s", shells[i].name, output);
        snprintf(verbs, sizeof verbs, "%s", strstr(table, "approve"));
        for (char *verb = strtok_r(verbs, "\n", &rest); verb;
             verb = strtok_r(NULL, "\n", &rest)) {
            char typed[64];

            snprintf(typed, sizeof typed, "%s --", verb);
            read_table(verb, "--help", table);
            complete(&shells[i], typed);
            cr_expect_str_eq(output, table, "%s offers for %s: %s", shells[i].name, verb,
                             output);
        }
    }
}

Test(completion, what_is_there_is_offered_in_every_shell)
{
    static const struct {
        const char *typed, *offers;
    } rows[] = {
        {"wi", "withdraw\n"},
        {"list ", "prompts\nresources\ntemplates\ntools\n"},
        {"help prop", "proposals\npropose\n"},
        {"list t", "templates\ntools\n"},
        {"watch --color a", "always\nauto\n"},
        {"validate res", "response.v1\n"},
        {"validate sch", "schema\n"},
        {"contract sch", ""},
        {"contract art", "artifact.ref.v0.1\nartifact.v0.1\n"},
        {"validate schema --dialect ", "2020-12\ndraft-07\n"},
        {"watch --color=n", "--color=never\n"},
        {"call --as ann --to ", "fs\n"},
        {"call --as ann --to f", "fs\n"},
        {"call --as ann --to g", ""},
        {"call --as ann --to fs --to", "--token-file\n--topic\n"},
        {"say --as ann --to fs --to", "--to\n--token-file\n--topic\n"},
        {"who --as ann --topic a", "a room/1\n"},
        {"who --as ann --topic elsewhere --topic ", ""},
        {"call --as ann --url ws://127.0.0.1:1 --to ", ""},
        {"call --as ann --to fs ", "echo\nseen\n"},
        {"propose --as ann e", "echo\n"},
        {"call --as ann --url ws://127.0.0.1:1 e", ""},
        {"list --as ann --to fs --tool s", "seen\n"},
        {"--as ann call --to f", "fs\n"},
        {"--topic x wi", "withdraw\n"},
        {"call --to ", ""},
        {"call --as ann --timeout ", ""},
        {"nothing --as ann ", ""},
    };

    for (size_t i = 0; i < COUNT(shells); i++) {
        for (size_t j = 0; j < COUNT(rows) && has_shell(shells[i].name); j++) {
            const char *expected = rows[j].offers;

            complete(&shells[i], rows[j].typed);
            /* bash has cut off what stands before the "=". */
            if (strcmp(shells[i].name, "bash") == 0 && strncmp(expected, "--color=", 8) == 0)
                expected += 8;
            cr_expect_str_eq(output, expected, "%s, %s: %s", shells[i].name, rows[j].typed,
                             output);
        }
    }
}

/* A router that takes connections and says nothing: the terminal is the person's again soon. */
Test(completion, nobody_is_waited_for_long)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int silent = socket(AF_INET, SOCK_STREAM, 0);
    int64_t begin = support_now_ms();
    char line[160];

    cr_assert_eq(bind(silent, (struct sockaddr *)&address, len), 0);
    cr_assert_eq(listen(silent, 16), 0);
    getsockname(silent, (struct sockaddr *)&address, &len);
    snprintf(line, sizeof line,
             "MCPX_TOKEN=x mcpxctl completion bash -- call --url ws://127.0.0.1:%d e 2>&1",
             ntohs(address.sin_port));
    cr_assert_eq(run(line), 0);
    cr_expect_str_eq(output, "");
    cr_expect_lt(support_now_ms() - begin, 12000);
    close(silent);
}

Test(completion, ids_and_contexts_are_offered)
{
    char id[64], said[64], word[128], full[192], line[256];

    cr_assert_eq(run("mcpxctl context add room --url $MCPX_URL --topic 'a room/1' --as ann; "
                     "mcpxctl context add other --topic other --as ann"),
                 0);
    run_for_id(said, "mcpxctl say hello");
    run_for_id(id, "mcpxctl propose echo '{}' --to fs");
    find_listed("mcpxctl proposals", id, word);
    snprintf(full, sizeof full, "%s%s", id, strchr(word, '@'));
    expect("mcpxctl completion bash -- context use ''", 0, "room\nother\n");
    expect("mcpxctl completion zsh -- context use o", 0, "other\tother\n");
    expect("mcpxctl completion bash -- who --context r", 0, "room\n");
    expect("mcpxctl completion bash -- approve ''", 0, full);
    snprintf(line, sizeof line, "%s\tmcp/proposal:tools/call:echo\n", full);
    expect("mcpxctl completion fish -- reject ''", 0, line);
    snprintf(line, sizeof line, "%s\n", said);
    expect("mcpxctl completion bash -- chain ''", 0, line);
    expect("mcpxctl completion bash -- history --before ''", 0, line);
    expect("mcpxctl completion bash -- approve '' --yes --context nowhere --to '' 2>&1", 0,
           "");
    cr_expect_str_eq(output, "", "it is silent: %s", output);
    run_for_id(id, "mcpxctl reject %s --reason no", full);
    expect("mcpxctl completion bash -- approve 0 1 2 3", 0, "");
}
