/*
 * trouble.c - why there is no server: for who asks now, and, when there is no hope, for whoever
 * started it.
 */
#include "tools/mcpx-bridge/import/trouble.h"

#include "tools/mcpx-bridge/import/state.h"

#include <stdarg.h>
#include <stdio.h>

void import_trouble_note(struct import *import, const struct mcpx_child_report *report)
{
    mcpx_text_reset(&import->trouble);
    mcpx_text_puts(&import->trouble, "the server is gone: ");
    mcpx_text_puts(&import->trouble, report->text ? report->text : "it ended");
    mcpx_text_reset(&import->trouble_data);
    mcpx_text_puts(&import->trouble_data, "{");
    if (report->signal || report->code >= 0) {
        mcpx_text_puts(&import->trouble_data, report->signal ? "\"signal\":" : "\"code\":");
        mcpx_text_number(&import->trouble_data,
                         report->signal ? report->signal : report->code);
        mcpx_text_puts(&import->trouble_data, ",");
    }
    mcpx_json_add_member(&import->trouble_data, "reason",
                         mcpx_slice_of(report->text ? report->text : "ended"));
    mcpx_text_puts(&import->trouble_data, "}");
}

void import_give_up(struct import *import, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(import->failure, sizeof import->failure, format, arguments);
    va_end(arguments);
    import->over = true;
}

const char *import_failure(const struct import *import)
{
    return import->failure[0] ? import->failure : NULL;
}
