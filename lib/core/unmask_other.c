/*
 * unmask_other.c - what there is on architectures that no file of their own speaks for.
 */
#include "lib/core/unmask.h"

static bool always(void)
{
    return true;
}

const struct mx_unmask_unit mx_unmask_units[] = {{"portable", always, mx_unmask_portable}};
const size_t mx_unmask_unit_count = 1;
