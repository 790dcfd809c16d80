/*
 * who.c - two topics may have a participant of the same name, who need not be the same; so
 * nobody is compared by name alone.
 */
#include "tools/mcpx-bridge/import/who.h"

bool import_who_is(struct import_who one, struct import_who other)
{
    return one.topic == other.topic && mcpx_slice_equal(one.id, other.id);
}
