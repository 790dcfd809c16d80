/*
 * cmd_reload.c - has the router read its configuration again, and shows who gains and loses what.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/mcpxctl/difference_text.h"
#include "tools/mcpxctl/fetch.h"
#include "tools/mcpxctl/output.h"
#include <mcpx/json.h>

static const char verb[] = "reload";

int cmd_reload(const struct arguments *arguments)
{
    struct mcpx_text answer = {0};
    struct connection where;
    int status = connection_read_anywhere(arguments, &where);

    if (status == STATUS_OK)
        status = fetch_answer(&where, verb, "/admin/reload", "{}", &answer);
    if (status == STATUS_OK)
        status = output_answer(arguments, &answer, difference_tell);
    mcpx_text_fini(&answer);
    connection_fini(&where);
    return status;
}
