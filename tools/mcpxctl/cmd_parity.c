/*
 * cmd_parity.c - do two logs say the same? For people, what differs, line by line; a line that only
 * one log has is told as that.
 */
#include "tools/mcpxctl/verbs.h"

#include "lib/core/format.h"
#include "tools/common/input.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/output.h"
#include <mcpx/record.h>

static const char verb[] = "parity";

/* By enum mcpx_parity_side. */
struct logs {
    const char *paths[2];
    struct input_lines lines[2];
    struct mcpx_parity parity;
    struct mcpx_text differences;
};

static void list_json(void *context, size_t line, struct mcpx_slice path)
{
    struct logs *logs = (struct logs *)context;

    mx_format(&logs->differences, "%s{\"line\":%s,\"path\":%q}",
              logs->differences.len > 0 ? "," : "", line, path);
}

static void list_text(void *context, size_t line, struct mcpx_slice path)
{
    struct logs *logs = (struct logs *)context;
    struct mcpx_text *out = &logs->differences;
    const size_t *lines = logs->parity.lines;

    text_format(out, "line %s: ", line);
    if (line > lines[MCPX_PARITY_GOLDEN] || line > lines[MCPX_PARITY_NEW]) {
        text_format(out, "only in %s\n",
                    input_name(logs->paths[line > lines[MCPX_PARITY_GOLDEN]]));
        return;
    }
    text_format(out, "%s differs\n", path.len > 0 ? path : MCPX_SLICE("the whole"));
}

/* `line`: that of the side with the fault. */
static int complain_of_line(const struct logs *logs, struct mcpx_slice line,
                            const struct mcpx_fault *fault)
{
    enum mcpx_parity_side side = logs->parity.side;

    line.len = fault->offset;
    complain_at_line(verb, input_name(logs->paths[side]), logs->parity.lines[side], line,
                     fault->reason);
    return STATUS_USAGE;
}

static int print(struct logs *logs, bool json)
{
    const struct mcpx_parity *parity = &logs->parity;
    bool equal = parity->differences == 0;
    size_t golden = parity->lines[MCPX_PARITY_GOLDEN];
    struct mcpx_text out = {0};

    if (json)
        mx_format(&out,
                  "{\"equal\":%s,\"golden_lines\":%s,\"new_lines\":%s,\"differences\":[%s]}\n",
                  equal, golden, parity->lines[MCPX_PARITY_NEW], &logs->differences);
    else if (equal)
        mx_format(&out, "equal: %s line%s\n", golden, golden == 1 ? "" : "s");
    else
        mx_format(&out, "%s", &logs->differences);
    return output_print(&out, verb, equal ? STATUS_OK : STATUS_FAILED);
}

static int compare(struct logs *logs)
{
    struct mcpx_fault fault = {"", "", 0};
    enum mcpx_err err = MCPX_OK;

    while (!err) {
        struct mcpx_slice lines[2] = {{0}};
        bool is_more = input_lines_next(&logs->lines[0], &lines[0]);

        is_more |= input_lines_next(&logs->lines[1], &lines[1]);
        if (!is_more)
            return STATUS_OK;
        err = mcpx_parity_next(&logs->parity, lines, &fault);
        if (err && err != MCPX_ENOMEM)
            return complain_of_line(logs, lines[logs->parity.side], &fault);
    }
    return complain_of_memory(verb);
}

int cmd_parity(const struct arguments *arguments)
{
    bool json = arguments_have(arguments, "--json");
    struct logs logs = {.paths = {arguments->operands[0], arguments->operands[1]},
                        .parity = {.differ = json ? list_json : list_text, .context = &logs}};
    int status = STATUS_OK;

    if (input_is_standard(logs.paths[0]) && input_is_standard(logs.paths[1]))
        return fail_with(STATUS_USAGE, verb, "standard input cannot be both logs");
    for (int i = 0; i < 2 && status == STATUS_OK; i++)
        status = input_lines_open(verb, logs.paths[i], &logs.lines[i]);
    if (status == STATUS_OK)
        status = compare(&logs);
    for (int i = 0; i < 2; i++) {
        int closed = input_lines_close(verb, &logs.lines[i]);

        status = status == STATUS_OK ? closed : status;
    }
    if (status == STATUS_OK)
        status = print(&logs, json);
    mcpx_parity_fini(&logs.parity);
    mcpx_text_fini(&logs.differences);
    return status;
}
