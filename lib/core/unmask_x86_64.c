/*
 * unmask_x86_64.c - what there is on x86-64: SSE2 on every one, AVX2 on most. unmask_other.c
 * stands in its place on other architectures.
 */
#include "lib/core/unmask.h"

static bool always(void)
{
    return true;
}

static bool has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2");
}

const struct mx_unmask_unit mx_unmask_units[] = {{"avx2", has_avx2, mx_unmask_avx2},
                                                 {"sse2", always, mx_unmask_sse2},
                                                 {"portable", always, mx_unmask_portable}};
const size_t mx_unmask_unit_count = sizeof mx_unmask_units / sizeof *mx_unmask_units;
