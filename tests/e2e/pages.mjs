/*
 * pages.mjs - does what pages of the documentation tell their reader, and compares what they show with
 * what is said.
 *
 * Usage: node pages.mjs PAGE...      PAGE as README.md, docs/audit.md
 */
import { createServer } from 'node:net';
import { PageError } from './lib/page.mjs';
import { Reader } from './lib/reader.mjs';

/** Where routers listen in all pages. */
const PORT = 8080;

/* Programs of all pages listen where the pages say. */
async function expectFreePort() {
  await new Promise((done, fail) => {
    const server = createServer().once('error', fail).listen(PORT, '127.0.0.1', () => server.close(done));
  }).catch(() => {
    throw new Error(`the pages start routers on 127.0.0.1:${PORT}, where something listens already, `
      + 'and this machine does not let the test have a loopback of its own (unshare --net)');
  });
}

async function main(names) {
  await expectFreePort();
  for (const name of names) {
    const reader = new Reader(name);
    try {
      await reader.read();
    } finally {
      reader.close();
    }
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error instanceof PageError ? error.message : error.stack);
  process.exit(1);
});
