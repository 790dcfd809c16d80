/*
 * fuzz_commit.c - as fuzz_hub.c, with a hub whose messages are stored first: bytes also decide when
 * the store takes, writes and answers each task, what it refuses, which topics it loads when, and
 * when all of it crashes.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/support/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct sim_tally tally = {0};
    struct mcpx_slice text = {(const char *)bytes, len};

    sim_run(dice_of_bytes(text), "the input above", true, 3000, &tally);
    return 0;
}
