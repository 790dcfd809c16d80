/*
 * backoff.c - growing pauses with jitter: when a router restarts, its participants must not all
 * connect again at the same instant. The pause is a random value from its upper half, so the
 * first one cannot be nearly zero.
 */
#include "lib/participant/backoff.h"

#include "lib/core/decimal.h"
#include <mcpx/error.h>

#include <string.h>

enum { FIRST_MS = 500, DOUBLINGS = 6 };

int64_t mx_backoff_next(struct mx_backoff *backoff, uint32_t chance)
{
    int64_t pause = FIRST_MS;

    for (unsigned i = 0; i < backoff->failures && i < DOUBLINGS; i++)
        pause *= 2;
    if (pause > MX_BACKOFF_MAX_MS)
        pause = MX_BACKOFF_MAX_MS;
    backoff->failures++;
    return pause / 2 + (int64_t)(chance % (uint32_t)(pause / 2 + 1));
}

int64_t mx_backoff_told(struct mcpx_slice reason)
{
    static const char words[] = "; retry_after_ms=";
    size_t len = sizeof words - 1;
    uint64_t told;

    for (size_t at = reason.len; at >= len; at--) {
        struct mcpx_slice number = {reason.text + at, reason.len - at};

        if (memcmp(number.text - len, words, len) == 0)
            return mx_decimal_clamp(number, MX_BACKOFF_MAX_MS, &told) ? (int64_t)told : 0;
    }
    return 0;
}

bool mx_backoff_is_final(int code, bool has_token, bool has_instance)
{
    enum mcpx_again again = mcpx_error_again(code);

    return again == MCPX_AGAIN_NO || (again == MCPX_AGAIN_TOKEN && !has_token) ||
           (again == MCPX_AGAIN_INSTANCE && !has_instance);
}
