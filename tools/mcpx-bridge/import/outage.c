/*
 * outage.c - why there is no server: for who asks now, and, when there is no hope, for whoever
 * started it.
 */
#include "tools/mcpx-bridge/import/outage.h"

#include "lib/core/format.h"
#include "tools/mcpx-bridge/import/state.h"

#include <stdarg.h>
#include <stdio.h>

void import_outage_note(struct import *import, const struct mcpx_child_report *report)
{
    mcpx_text_reset(&import->outage);
    mx_format(&import->outage, "the server is gone: %s",
              report->text ? report->text : "it ended");
    mcpx_text_reset(&import->outage_data);
    mcpx_text_puts(&import->outage_data, "{");
    if (report->signal)
        mx_format(&import->outage_data, "\"signal\":%s,", report->signal);
    else if (report->code >= 0)
        mx_format(&import->outage_data, "\"code\":%s,", report->code);
    mx_format(&import->outage_data, "\"reason\":%q}", report->text ? report->text : "ended");
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

const char *import_outage(const struct import *import)
{
    return import_is_ready(import) ? NULL : import->outage.text;
}
