/*
 * disk.mjs - what a router with a store keeps, in a folder of its own, and the disk below it: as it
 * is, or as slow and false as tests/support/slow_disk.c makes it.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mcpxctl } from './program.mjs';
import { freePort, Router, routerBinary } from './router.mjs';

/** Nobody is slowed down, and what was said since the last look is in history. */
const GENEROUS = {
  topics: { history: { count: 20000, bytes: 1 << 28 } },
  limits: { connects_per_s: 0, joins_per_minute: 0, messages_per_minute: 0, bytes_per_minute: 0,
    requests_per_minute: 0, log_bytes: 1 << 30, ping_s: 0 },
};

export class Disk {
  #folder = mkdtempSync(join(tmpdir(), 'mcpx-disk-'));
  #secret = randomUUID();
  #args;
  #router;

  /** `audit`: with an audit; `store`: further members of the configuration's `store`. */
  static async make({ audit = false, store = {} } = {}) {
    const disk = new Disk();
    disk.#args = ['--dev', '--listen', `127.0.0.1:${await freePort()}`];
    disk.file = join(disk.#folder, 'store.db');
    disk.config = { ...GENEROUS, store: { kind: 'sqlite', file: disk.file, ...store } };
    if (audit) {
      disk.keyFile = join(disk.#folder, 'audit.pem');
      disk.auditFolder = join(disk.#folder, 'audit');
      execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', disk.keyFile], { stdio: 'ignore' });
      execFileSync('openssl', ['pkey', '-in', disk.keyFile, '-pubout', '-out', `${disk.keyFile}.pub`]);
      disk.config.audit = { folder: disk.auditFolder, key_file: disk.keyFile };
    }
    disk.becomes('ok');
    return disk;
  }

  /** The same; with the test `t` its latest router and all that it has end. */
  static async makeFor(t, options) {
    const disk = await Disk.make(options);
    t.after(() => {
      disk.becomes('ok');
      return disk.#router.stop().finally(() => disk.remove());
    });
    return disk;
  }

  /**
   * A router on it; its predecessor's address and tokens are its own. `isActivated`: see
   * Router.start; `args`: further ones.
   */
  async start({ isSlow = false, isActivated = false, args = [] } = {}) {
    const env = { MCPX_AUTH_JWT_SECRET: this.#secret };
    if (isSlow) {
      const disk = join(dirname(dirname(routerBinary())), 'tests', 'libslow_disk.so');
      env.LD_PRELOAD = `${disk} ${process.env.LD_PRELOAD ?? ''}`;
      env.MCPX_SLOW_DISK = join(this.#folder, 'slow');
      env.ASAN_OPTIONS = `${process.env.ASAN_OPTIONS ?? ''}:verify_asan_link_order=0`;
    }
    this.#router = await Router.start({ config: this.config, args: [...this.#args, ...args], env, isActivated });
    return this.#router;
  }

  /** What kind of disk it is from now on, for routers that were started as slow. */
  becomes(what) {
    writeFileSync(join(this.#folder, 'slow'), what);
  }

  /** What `mcpxctl audit verify` says, as ctl has it. */
  verifyAudit() {
    return this.ctl('audit', 'verify', this.auditFolder, '--key', `${this.keyFile}.pub`);
  }

  /** What mcpxctl says: `{ code, stdout, stderr }`. */
  ctl(...words) {
    return mcpxctl(words);
  }

  remove() {
    rmSync(this.#folder, { recursive: true });
  }
}
