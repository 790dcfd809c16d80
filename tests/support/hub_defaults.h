/*
 * hub_defaults.h - a hub's settings as config_table.c has them, for tests that read no
 * configuration. test_config compares.
 */
#ifndef TESTS_HUB_DEFAULTS_H
#define TESTS_HUB_DEFAULTS_H

#include "router/policy/config/settings.h"

#include <stdlib.h>

static inline struct hub_config hub_config_default(void)
{
    struct settings all = {.config = {.dev = false}};
    char *hub = (char *)&all.config.hub;

    for (const struct setting *row = settings_table; row->pointer; row++) {
        char *at = (char *)&all + row->offset;
        int64_t number = 0;

        if (row->size == 0 || at < hub || at >= hub + sizeof all.config.hub)
            continue;
        number = row->type == SETTING_BOOL ? *row->fallback == 't'
                                           : strtoll(row->fallback, NULL, 10) * row->scale;
        while (row->choices && !strstr(row->fallback, row->choices[number]))
            number++;
        if (row->size == sizeof number)
            memcpy(at, &number, sizeof number);
        else if (row->size == sizeof(unsigned))
            memcpy(at, &(unsigned){(unsigned)number}, sizeof(unsigned));
        else
            *at = (char)number;
    }
    return all.config.hub;
}

#endif
