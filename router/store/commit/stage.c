/*
 * stage.c - figures are counted by the stage's thread and moved to the loop with its answers, so
 * neither reads what the other writes.
 */
#include "router/store/commit/stage.h"

#include <string.h>

const unsigned figure_times_us[FIGURE_TIMES] = {
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 100000, 500000, 1000000, 5000000};
const unsigned figure_sizes[FIGURE_SIZES] = {1, 4, 16, 64, 256, 1000};

static void count(struct figure *figure, const unsigned *bounds, size_t bound_count,
                  uint64_t value)
{
    size_t class = 0;

    while (class < bound_count && value > bounds[class])
        class ++;
    figure->counts[class]++;
    figure->sum += value;
}

void figure_add_time(struct figure *figure, uint64_t us)
{
    count(figure, figure_times_us, FIGURE_TIMES, us);
}

void figure_add_size(struct figure *figure, uint64_t size)
{
    count(figure, figure_sizes, FIGURE_SIZES, size);
}

static void move(struct figure *to, struct figure *from)
{
    for (size_t i = 0; i <= FIGURE_TIMES; i++)
        to->counts[i] += from->counts[i];
    to->sum += from->sum;
    *from = (struct figure){0};
}

void stage_report_move(struct stage_report *to, struct stage_report *from)
{
    to->state = from->state;
    memcpy(to->reason, from->reason, sizeof to->reason);
    to->bytes = from->bytes;
    move(&to->work, &from->work);
    move(&to->sizes, &from->sizes);
}
