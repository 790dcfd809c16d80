/*
 * exceptions.mjs - where a secret may stand, and why. Nothing else may hold one.
 *
 * program   whose output it is
 * stream    which one: see recorder.c
 * command   what its command line has to match
 * before    what the bytes before the secret, or before the signed token, have to match
 */
export const EXCEPTIONS = [
  { program: 'mcpx-router', stream: 'http', before: /"(token|ticket)":"$/,
    reason: 'the answer to somebody who asks for a token or a ticket' },
  { program: 'mcpx-bridge', stream: 'http', command: /mcpx-bridge guard\b/, before: /"(token|ticket)":"$/,
    reason: 'the same answer, which a guard hands on to its agent' },
  { program: 'mcpxctl', stream: 'stdout', command: /mcpxctl token\b/, before: /^token +$/m,
    reason: '`mcpxctl token` makes a token and prints it' },
  { program: 'mcpx-bridge', stream: 'child', command: /mcpx-bridge guard\b/, before: /^MCPX_TOKEN=$/m,
    reason: 'the agent behind a guard has a token of its own, in its environment' },
];
