/*
 * fuzz_hub.c - bytes decide who joins, says, stalls, leaves, when time leaps and which allocation
 * fails; everybody has to receive what sim.h works out for them.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/support/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct sim_tally tally = {0};
    struct mcpx_slice text = {(const char *)bytes, len};

    sim_run(dice_of_bytes(text), "the input above", false, 5000, &tally);
    return 0;
}
