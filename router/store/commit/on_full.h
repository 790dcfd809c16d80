/*
 * on_full.h - what happens to messages, and to comings and goings, when the audit cannot write
 * their line: the setting audit.on_full, for those who read it and for the audit itself.
 */
#ifndef POLICY_ON_FULL_H
#define POLICY_ON_FULL_H

/**
 *   REFUSE   they are rejected; nobody ever gets them
 *   BLOCK    they wait, however long it takes
 *   DROP     they go on without a line; another line tells how many, once it can be written
 */
enum on_full { ON_FULL_REFUSE, ON_FULL_BLOCK, ON_FULL_DROP };

#endif
