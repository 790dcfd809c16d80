/*
 * cmd.c - from the command line to struct guard_options. Some options have the same name as
 * those of other verbs, but are defined here: the guard needs no topic and no token, because
 * both are in the agent's requests.
 */
#include "tools/mcpx-bridge/verbs.h"

#include "tools/mcpx-bridge/guard/edge/run.h"

#include <stdlib.h>

const struct option_row guard_option_rows[] = {
    {"--url", "URL", VALUE_TEXT, 0,
     "the router, ws://HOST[:PORT][/PATH]. Default: MCPX_URL, else ws://127.0.0.1:8080"},
    {"--listen", "HOST:PORT", VALUE_TEXT, 0,
     "where the agent connects to. Default: 127.0.0.1:0, any free port"},
    {"--message-max", "BYTES", VALUE_NUMBER, 0,
     "longest message from the router; longer ones are left out. Default: 67108864"},
    {"--timeout", "S", VALUE_SECONDS, 0,
     "how long it may take until the router has welcomed the agent, or answered a request "
     "that is for no WebSocket; 0 for ever. Default: 30"},
    {"--json", NULL, VALUE_NONE, 0, "log one JSON object per line"},
    {"--verbose", NULL, VALUE_NONE, 0,
     "also log what is left out all day: the agent's own echoes and what is addressed to "
     "others"},
    {.name = NULL},
};

const char guard_help[] =
    "Listens on this machine and passes on what an agent says to the router, byte for byte. "
    "What the router says is passed on message by message: as it came, or not at all. Left "
    "out are messages addressed to others, the agent's own, requests whose kind and payload "
    "disagree, proposals that would be executed, and responses that nobody asked for or that "
    "come from somebody who was not asked. Each such message is told on standard error.\n\n"
    "COMMAND is run with the guard's address in MCPX_URL, MCPX_GATEWAY and GATEWAY_URL, and "
    "the guard ends with its exit code. Without COMMAND the address is printed and the guard "
    "runs until it is stopped.\n\n"
    "The guard reads what it guards, so it speaks ws only, not wss.";

static const char *value_or(const struct arguments *arguments, const char *name,
                            const char *fallback)
{
    const char *value = arguments_value(arguments, name);

    return value ? value : fallback;
}

int cmd_guard(const struct arguments *arguments)
{
    enum { MESSAGE_MAX = 64 << 20, TIMEOUT_MS = 30000 };
    const char *environment = getenv("MCPX_URL");
    const char *url = value_or(
        arguments, "--url", environment && *environment ? environment : "ws://127.0.0.1:8080");
    const char *listen = value_or(arguments, "--listen", "127.0.0.1:0");
    struct guard_options options = {
        .json = arguments_have(arguments, "--json"),
        .verbose = arguments_have(arguments, "--verbose"),
        .message_max = (size_t)arguments_number(arguments, "--message-max", MESSAGE_MAX),
        .timeout_ms = (uint64_t)arguments_ms(arguments, "--timeout", TIMEOUT_MS),
        .command = arguments->rest,
    };
    const char *fault = guard_address_url(url, &options.router);

    if (fault)
        return fail_with(STATUS_USAGE, "guard", "--url: %s", fault);
    fault = guard_address_listen(listen, &options.listen);
    if (fault)
        return fail_with(STATUS_USAGE, "guard", "--listen: %s", fault);
    return guard_run(&options);
}
