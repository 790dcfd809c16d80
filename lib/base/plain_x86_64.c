/*
 * plain_x86_64.c - what there is on x86-64: SSE2 on every one, AVX2 on most. plain_other.c stands
 * in its place on other architectures.
 */
#include "lib/base/plain.h"

static bool always(void)
{
    return true;
}

static bool has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2");
}

const struct mx_plain_unit mx_plain_units[] = {
    {"avx2", has_avx2, mx_plain_avx2, mx_nested_avx2},
    {"sse2", always, mx_plain_sse2, mx_nested_sse2},
    {"portable", always, mx_plain_portable, mx_nested_portable}};
const size_t mx_plain_unit_count = sizeof mx_plain_units / sizeof *mx_plain_units;
