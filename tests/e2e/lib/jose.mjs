/**
 * jose.mjs - the library that signs tokens in these tests. It wants the global `crypto`, which Node.js
 * has by itself from version 19 on; Debian 12 has 18.
 */
import { webcrypto } from 'node:crypto';

globalThis.crypto ??= webcrypto;

export * from 'jose';
