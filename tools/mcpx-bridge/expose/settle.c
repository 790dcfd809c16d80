/*
 * settle.c - when the lists are known well enough to be shown, and when they have changed. The
 * bridge compares the lists as the client would get them. So a server's false alarm, or a change
 * hidden by the grants, causes no notification. The comparison writes only lists that may have
 * changed, and takes place at most once a second.
 */
#include "tools/mcpx-bridge/expose/state.h"

static bool is_open(const struct expose_participant *participant, int list)
{
    if (participant->state == EXPOSE_PARTICIPANT_ASKED)
        return true;
    for (int i = 0; i < EXPOSE_LIST_COUNT; i++)
        if ((list < 0 || i == list) && participant->lists[i].is_open)
            return true;
    return false;
}

bool expose_is_settled(const struct expose *x, int list)
{
    if (!x->joined || x->room.to_come)
        return false;
    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog)
        if (is_open(participant, list) && participant->patience_ms > x->now.mono_ms)
            return false;
    return true;
}

/* Logs the patterns of --only that have matched nothing so far. */
static void note_only(struct expose *x)
{
    for (size_t i = 0; i < x->config.only_count; i++)
        if (!x->only[i].fitted)
            expose_note_text(x,
                             "--only %s fits no participant and no name in the "
                             "topic at present",
                             expose_quoted(x->only[i].pattern));
}

/* Tells the client of changes, also to lists that it got before all lists were known. */
static void tell_changes(struct expose *x)
{
    bool changed[EXPOSE_LIST_COUNT];

    for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++) {
        uint64_t now = expose_list_hash(x, (enum expose_list)i);

        changed[i] = x->told[i] && x->told[i] != now;
        x->told[i] = now;
    }
    changed[EXPOSE_RESOURCES] |= changed[EXPOSE_TEMPLATES];
    changed[EXPOSE_TEMPLATES] = false;
    for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++)
        if (changed[i])
            expose_tell_changed(x, (enum expose_list)i);
    expose_room_tell(x);
    if (x->room.to_come) /* it may hold the place behind which the channel goes on */
        expose_touch(x);
    else if (x->config.channel && x->room.pushed.len)
        expose_channel_tell(x);
    if (!x->has_baseline)
        note_only(x);
    x->has_baseline = true;
}

/*
 * mono_ms of the next comparison: once the lists are settled. A participant that never finishes
 * delays the changes of others by EXPOSE_PATIENCE_MS at most; then complete lists count.
 */
static int64_t compare_at(const struct expose *x)
{
    if (x->changed_ms == INT64_MAX || expose_is_settled(x, -1))
        return x->changed_ms;
    return x->joined ? x->changed_ms + EXPOSE_PATIENCE_MS : INT64_MAX;
}

void expose_settle_tick(struct expose *x)
{
    bool overdue = false;

    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        overdue |= participant->away_ms && participant->away_ms <= x->now.mono_ms;
        if (participant->state == EXPOSE_PARTICIPANT_ASKED &&
            participant->patience_ms <= x->now.mono_ms)
            participant->state = EXPOSE_PARTICIPANT_MUTE;
    }
    if (overdue && x->joined)
        expose_probe_missing(x, false);
    if (x->joined)
        expose_probe_tick(x);
    if (compare_at(x) > x->now.mono_ms)
        return;
    if (x->view.is_behind(x->view.user)) {
        x->changed_ms = x->now.mono_ms + EXPOSE_PATIENCE_MS; /* changes are told later */
        return;
    }
    x->changed_ms = INT64_MAX;
    x->compared_ms = x->now.mono_ms;
    tell_changes(x);
}

int64_t expose_settle_deadline(const struct expose *x)
{
    int64_t due = compare_at(x);

    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        for (size_t i = 0; x->joined && i < EXPOSE_LIST_COUNT; i++)
            due = bridge_sooner(due, expose_probe_due(x, &participant->lists[i]));
        if (x->joined && participant->away_ms)
            due = bridge_sooner(due, participant->away_ms);
        if (is_open(participant, -1) && participant->patience_ms > x->now.mono_ms)
            due = bridge_sooner(due, participant->patience_ms);
    }
    return due;
}
