/*
 * main.c - mcpx-router: the command line, and what it prints. All it knows of the router is how
 * to configure and to run one.
 */
#include "lib/base/match.h"
#include "lib/base/scoped.h"
#include "lib/edge/timer.h"
#include "router/connection/bounds.h"
#include "router/edge/edge_parts.h"
#include "router/process/log.h"
#include "router/process/process.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

extern char **environ;

/* Exit statuses, as --help and the manual page state them. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum { LISTEN_MAX = 16 }; /* as many as the setting `listen` takes */

/* `asked` is true at the letter of each option without a value that was given. */
struct arguments {
    const char *file;
    const char *listen[LISTEN_MAX];
    size_t listen_count;
    bool asked[128];
};

static const char usage[] =
    "usage: mcpx-router [--config FILE] [--dev] [--listen HOST:PORT]... [--check]\n"
    "                   [--dumpable] [--version] [--help]\n";

static const char help[] =
    "\n"
    "Routes MCPx v0.1 messages between the participants of a topic.\n"
    "\n"
    "  --config FILE       settings (JSON); without it the defaults and MCPX_... variables\n"
    "  --dev               for trying things out on this machine: hands out tokens to anyone\n"
    "  --listen HOST:PORT  listen here instead of where the settings say; may be repeated;\n"
    "                      port 0 lets the system choose, '*' is every address; with\n"
    "                      tls:// before it, TLS is spoken there\n"
    "  --check             read the settings, print warnings, say whether they are valid\n"
    "                      and what bounds they come to, exit\n"
    "  --dumpable          let debuggers of the same user read this process, and the kernel\n"
    "                      write core files, which hold tokens and keys\n"
    "  --version           print the version and exit\n"
    "  --help              print this and exit\n"
    "\n"
    "Prints a line \"listening URL\" for each listener on standard output; logs on standard\n"
    "error. TERM and INT stop it, a second one at once; HUP has it read its settings again.\n"
    "\n"
    "Exit status: 0 stopped as asked, or --check found no error; 1 could not listen, could\n"
    "not use a file or folder, or ran out of memory; 2 wrong arguments or settings.\n";

/* After getopt's complaint about a mistyped option, names the option probably meant. */
static void say_nearest(const struct option *options, const char *word)
{
    static const struct mx_typo_costs costs = {.edit = 1, .swap = 1};
    struct mcpx_slice typed = mcpx_slice_of(word + strspn(word, "-"));
    const char *nearest = NULL;
    size_t least = 3;

    typed.len = strcspn(typed.text, "=");
    for (; options->name && typed.len <= MX_TYPO_WORD_MAX; options++) {
        struct mx_typo typo;
        size_t wrong = mx_typo_compare(&typo, &costs, typed, mcpx_slice_of(options->name));

        if (wrong < least)
            nearest = options->name;
        least = wrong < least ? wrong : least;
    }
    if (nearest && least > 0) /* 0: only its value is missing */
        fprintf(stderr, "mcpx-router: did you mean --%s?\n", nearest);
}

/* False after a line on standard error about what is wrong. */
static bool parse(int argc, char **argv, struct arguments *out)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'}, {"listen", required_argument, NULL, 'l'},
        {"dev", no_argument, NULL, 'd'},          {"check", no_argument, NULL, 'k'},
        {"dumpable", no_argument, NULL, 'u'},     {"version", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == '?') {
            say_nearest(options, argv[optind - 1]);
            return false;
        }
        if (option == 'l' && out->listen_count == LISTEN_MAX) {
            fprintf(stderr, "mcpx-router: --listen %s: expected at most %d of them\n", optarg,
                    LISTEN_MAX);
            return false;
        }
        if (option == 'c')
            out->file = optarg;
        else if (option == 'l')
            out->listen[out->listen_count++] = optarg;
        else
            out->asked[option] = true;
    }
    if (optind < argc)
        fprintf(stderr, "mcpx-router: %s: unknown argument, expected options only\n",
                argv[optind]);
    return optind == argc;
}

/* Lines of errors or warnings, which are freed. */
static void say(struct mcpx_text *lines)
{
    if (lines->len)
        fputs(lines->text, stderr);
    mcpx_text_fini(lines);
}

static void announce(const struct edge *edge, bool dev)
{
    for (size_t i = 0; i < edge->listener_count; i++)
        printf("listening %s\n", edge->listeners[i].url);
    if (dev && edge->listener_count && edge->listeners[0].url[0] == 'w') {
        /* ws://HOST/ws, or wss; http and https begin where ws and wss do */
        const char *url = edge->listeners[0].url + strlen("ws");

        printf("token: curl -d '{\"participantId\":\"me\",\"topic\":\"room\"}' "
               "http%.*s/v0.1/auth/token\n",
               (int)(strlen(url) - strlen("/ws")), url);
    }
    fflush(stdout);
}

static int serve(struct config *config, const struct config_sources *sources)
{
    struct mcpx_text errors = {0};
    struct edge *edge = NULL;
    enum mcpx_err err = edge_new(config, sources, &errors, &edge);

    if (err && errors.len == 0) /* else its lines say it better */
        fprintf(stderr, "mcpx-router: %s\n", mcpx_strerror(err));
    if (err)
        say(&errors);
    mcpx_text_fini(&errors); /* of addresses that were left out, the log tells */
    if (!err) {
        announce(edge, config->dev);
        edge_run(edge);
    }
    edge_free(edge);
    log_close();
    return err ? EXIT_FAILED : EXIT_OK;
}

static int check(const struct config *config)
{
    mx_scoped_text found = {0};
    struct mcpx_text errors = {0};
    struct process process = {0};
    bool good = paths_check(config, &errors, &found);

    say(&errors);
    if (!good)
        return EXIT_FAILED;
    process_measure(&process, mx_clock_now().mono_ms);
    bounds_write(config, &found);
    bounds_write_needs(config,
                       &(struct machine_limits){machine_memory(""), machine_descriptors(),
                                                process.resident_bytes},
                       &found);
    printf("configuration is valid\n%s", found.failed ? "" : found.text);
    return EXIT_OK;
}

static int serve_or_check(const struct arguments *arguments)
{
    struct config_sources sources = {
        .file = arguments->file,
        .listen = arguments->listen,
        .listen_count = arguments->listen_count,
        .dev = arguments->asked['d'],
        .environment = (const char *const *)environ,
        .chance = clock_chance(),
    };
    struct mcpx_text errors = {0};
    struct config config = {0};
    enum mcpx_err err = config_load(&sources, &errors, &config);
    int status = err == MCPX_ECONFIG ? EXIT_USAGE : EXIT_FAILED;

    say(&errors);
    if (!err) {
        if (config.warnings.len)
            fputs(config.warnings.text, stderr);
        bounds_settle(&config, machine_memory(""));
        log_open(config.log_level, config.log_format);
        status = arguments->asked['k'] ? check(&config) : serve(&config, &sources);
    }
    config_fini(&config);
    return status;
}

/* The loop heeds it (edge_new): until then it would end the process. */
static void block_reload(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
    int status = EXIT_OK;
    bool serves;

    block_reload();
    if (!parse(argc, argv, &arguments)) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    if (!arguments.asked['u'])
        process_hide();
    if (arguments.asked['h'])
        printf("%s%s", usage, help);
    else if (arguments.asked['v'])
        printf("mcpx-router %s\n", mcpx_version());
    else
        status = serve_or_check(&arguments);
    serves = !arguments.asked['h'] && !arguments.asked['v'] && !arguments.asked['k'];
    if (serves || (fflush(stdout) == 0 && !ferror(stdout)))
        return status;
    fprintf(stderr, "mcpx-router: standard output: %s\n", strerror(errno));
    return EXIT_FAILED;
}
