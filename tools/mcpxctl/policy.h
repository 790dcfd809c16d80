/*
 * policy.h - the words behind the verb policy, and what two configurations decide about what was
 * said, and where they differ.
 */
#ifndef MCPXCTL_POLICY_H
#define MCPXCTL_POLICY_H

#include "lib/base/map.h"
#include "router/policy/config/config.h"
#include "tools/common/command.h"

/** Prints what the running router permits whom: as configured, and as changed since. */
int policy_show(const struct arguments *arguments);

/**
 * Prints who gains and loses what when `after` takes the place of `before`, as a reload would tell
 * it, and the settings that are different. STATUS_FAILED when anything is.
 */
int policy_compare(const struct config *before, const struct config *after, bool json);

enum { OLD, NEW };

/**
 * A message that a router has decided about.
 *
 * from      who sent it, with its instance
 * to        addressees; none = everyone
 * wall_ms   the instant to judge it at
 * allowed   what the router has decided
 * seq       its line in the audit; 0 = it comes from a topic's history
 * id        of its envelope there
 */
struct past_message {
    struct mcpx_slice from, topic;
    struct mcpx_kind kind;
    const struct mcpx_slice *to;
    size_t to_count;
    int64_t wall_ms;
    bool allowed;
    uint64_t seq;
    struct mcpx_slice id;
};

/** Messages about which the two differ in the same way. */
struct difference_group;

/**
 * Two configurations, and what came of the messages so far. Zero-initialised it has judged none;
 * the caller fills `configs`, which comparison_fini frees.
 *
 * judged, different, unjudged   messages: all, those the two differ about, and those of
 *               participants of neither
 * otherwise     messages about which the router decided otherwise than the old one does
 * unlisted      of the different ones those that are counted here alone, as the groups have as
 *               many bytes as they may have
 * known, bytes, groups, group_count, room   private
 */
struct comparison {
    struct config configs[2];
    uint64_t judged, different, unjudged, otherwise, unlisted;
    struct mx_map known;
    size_t bytes;
    struct difference_group *groups;
    size_t group_count, room;
};

/** Decides about a message under both. */
void comparison_judge(struct comparison *comparison, const struct past_message *message);

/**
 * Prints the differences and the sums. Returns STATUS_FAILED when there is a difference, else
 * STATUS_OK.
 */
int comparison_tell(const struct comparison *comparison, bool json);

/** Frees what it holds. */
void comparison_fini(struct comparison *comparison);

#endif
