/*
 * output.c - text is composed first and written whole, so that a verb that fails half way prints
 * nothing that looks like an answer.
 * Includes output.h, command.h, mcpx/error.h only.
 */
#include "tools/mcpxctl/output.h"

#include "tools/common/command.h"
#include <mcpx/error.h>

#include <stdio.h>

int output_print(struct mcpx_text *text, const char *verb, int status)
{
    if (text->failed) {
        complain(verb, "%s", mcpx_strerror(MCPX_ENOMEM));
        status = STATUS_FAILED;
    } else if (text->len > 0) {
        fwrite(text->text, 1, text->len, stdout);
    }
    mcpx_text_fini(text);
    return status;
}
