/*
 * absent.c - a roster with a count. The callers tell it who is there, and it tells them when
 * somebody needed has come back. The outbox does the waiting.
 */
#include "lib/participant/absent.h"

void mx_absent_fini(struct mx_absent *absent)
{
    mx_roster_fini(&absent->people);
    absent->needed = 0;
}

void mx_absent_note(struct mx_absent *absent, struct mx_roster *before,
                    const struct mx_roster *now)
{
    mx_absent_fini(absent);
    absent->people = *before;
    *before = (struct mx_roster){0};
    mx_roster_subtract(&absent->people, now);
}

bool mx_absent_need(struct mx_absent *absent, const struct mcpx_slice *to, size_t count,
                    int64_t mono_ms)
{
    size_t before = absent->needed;

    for (size_t i = 0; i < count && mono_ms < absent->until; i++) {
        struct mx_person *person = mx_roster_find(&absent->people, to[i]);

        if (!person || person->needed)
            continue;
        person->needed = true;
        absent->needed++;
    }
    return absent->needed > before;
}

bool mx_absent_came(struct mx_absent *absent, struct mcpx_slice id)
{
    const struct mx_person *person = mx_roster_find(&absent->people, id);
    bool was_needed = person && person->needed;

    mx_roster_remove(&absent->people, id);
    absent->needed -= was_needed;
    return was_needed;
}
