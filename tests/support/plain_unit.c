/*
 * plain_unit.c - lets a whole test program run with one vector unit: the one MCPX_PLAIN_UNIT
 * names, and the machine's own choice when it names none. Exits with 77, which ctest takes for
 * "skipped", where there is no such unit.
 */
#include "lib/base/plain.h"

#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void use_the_named_unit(void)
{
    const char *name = getenv("MCPX_PLAIN_UNIT");

    for (size_t i = 0; name && i < mx_plain_unit_count; i++) {
        if (strcmp(mx_plain_units[i].name, name) != 0 || !mx_plain_units[i].usable())
            continue;
        mx_plain_use(&mx_plain_units[i]);
        return;
    }
    if (name) {
        fprintf(stderr, "MCPX_PLAIN_UNIT: this machine has no unit '%s'\n", name);
        _Exit(77);
    }
}
