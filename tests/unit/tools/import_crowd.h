/*
 * import_crowd.h - the steps of import_world.h that are many steps.
 */
#ifndef MCPX_TESTS_IMPORT_CROWD_H
#define MCPX_TESTS_IMPORT_CROWD_H

#include <stdbool.h>

struct world;

/** Lets such a step happen; false for other verbs. */
bool crowd_happens(struct world *world, const char *verb, const char *rest);

/** Of import_world.c: one more step, without its "log"; what the import does is added. */
void world_go_on(struct world *world, const char *in);

/** Of import_world.c: what the import did is not compared. */
void world_forget_out(struct world *world);

#endif
