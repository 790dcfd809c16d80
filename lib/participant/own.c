/*
 * own.c - the references of an envelope of ours: the last one frees it.
 */
#include "lib/participant/own.h"

#include <stdlib.h>

void mx_own_unref(struct mx_own *own)
{
    if (!own || --own->refs > 0)
        return;
    mx_block_unref(own->text);
    mx_block_unref(own->kept);
    free(own->asked);
    free(own);
}
