/*
 * output.c - text is composed first and written whole, so that a verb that fails half way prints
 * nothing that looks like an answer. What goes to a terminal passes one last filter here, whatever
 * the verb that composed it has thought of; what goes to a program keeps its bytes.
 */
#include "tools/mcpxctl/output.h"

#include "tools/common/command.h"
#include "tools/common/visible.h"
#include <mcpx/error.h>

#include <stdio.h>
#include <unistd.h>

int output_print(struct mcpx_text *text, const char *verb, int status)
{
    struct mcpx_text shown = {0};

    if (!text->failed && text->len > 0 && isatty(STDOUT_FILENO)) {
        text_shown(&shown, mcpx_text_view(text));
        mcpx_text_fini(text);
        *text = shown;
    }
    if (text->failed) {
        complain(verb, "%s", mcpx_strerror(MCPX_ENOMEM));
        status = STATUS_FAILED;
    } else if (text->len > 0) {
        fwrite(text->text, 1, text->len, stdout);
    }
    mcpx_text_fini(text);
    return status;
}
