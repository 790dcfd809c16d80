/*
 * hub_defaults.h - a hub's settings as docs/configuration.md has them, for tests that read no
 * configuration. test_config compares.
 */
#ifndef TESTS_HUB_DEFAULTS_H
#define TESTS_HUB_DEFAULTS_H

#include "router/hub/hub.h"
#include "router/hub/topic/query.h"

static inline struct hub_config hub_config_default(void)
{
    return (struct hub_config){
        .create = true,
        .replay = 100,
        .linger_ms = 300000,
        .topics_max = 10000,
        .topics_each = 1000,
        .participants_max = 10000,
        .history_count = 1000,
        .history_bytes = 33554432,
        .history_age_ms = 86400000,
        .takeover = true,
        .instances = 8,
        .message_bytes = 8388608,
        .depth = 512,
        .backlog_bytes = 33554432,
        .connections_max = 20000,
        .connections_each = 2000,
        .messages_per_minute = 6000,
        .bytes_per_minute = 268435456,
        .joins_per_minute = 120,
        .ping_ms = 25000,
        .derive_kinds = true,
        .pending_bytes = 67108864,
        .open_ms = 5000,
    };
}

#endif
