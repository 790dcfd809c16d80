/*
 * stage.c - figures are counted by the stage's thread and moved to the loop with its answers, so
 * neither reads what the other writes.
 */
#include "router/store/commit/stage.h"

#include <string.h>

const struct mx_classes stage_times = {
    {100, 250, 500, 1000, 2500, 5000, 10000, 25000, 100000, 500000, 1000000, 5000000},
    12,
    1000000};
const struct mx_classes stage_sizes = {{1, 4, 16, 64, 256, 1000}, 6, 0};

static void move(struct mx_histogram *to, struct mx_histogram *from)
{
    for (size_t i = 0; i <= MX_CLASSES_MAX; i++)
        to->counts[i] += from->counts[i];
    to->sum += from->sum;
    *from = (struct mx_histogram){0};
}

void stage_report_move(struct stage_report *to, struct stage_report *from)
{
    to->state = from->state;
    memcpy(to->reason, from->reason, sizeof to->reason);
    to->bytes = from->bytes;
    move(&to->work, &from->work);
    move(&to->sizes, &from->sizes);
}
