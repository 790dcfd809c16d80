/*
 * consumer.c - somebody else's program: compiled against the installed library only.
 */
#include <mcpx/mcpx.h>
#include <stdio.h>

int main(void)
{
    struct mcpx_kind kind;

    if (mcpx_kind_parse(MCPX_SLICE("mcp/request:tools/call:ls"), &kind, NULL) != MCPX_OK)
        return 1;
    printf("mcpx %s %.*s\n", mcpx_version(), (int)kind.context.len, kind.context.text);
    return 0;
}
