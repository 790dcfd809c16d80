/*
 * plain_other.c - what there is on architectures that no file of their own speaks for.
 */
#include "lib/base/plain.h"

static bool always(void)
{
    return true;
}

const struct mx_plain_unit mx_plain_units[] = {
    {"portable", always, mx_plain_portable, mx_nested_portable}};
const size_t mx_plain_unit_count = 1;
