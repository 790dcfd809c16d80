/*
 * certificates.mjs - certificates for the length of a test, made by openssl: of an authority of its
 * own, for "localhost", or for a client.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const openssl = (...words) => execFileSync('openssl', words, { stdio: 'pipe' });

export class Certificates {
  folder = mkdtempSync(join(tmpdir(), 'mcpx-tls-'));

  /** Removed when the test ends. */
  constructor(t) {
    t.after(() => rmSync(this.folder, { recursive: true }));
  }

  path(name) {
    return join(this.folder, name);
  }

  text(name) {
    return readFileSync(this.path(name), 'utf8');
  }

  /**
   * Makes NAME.pem and NAME.key, for a host or client by itself, or signed by the authority `by`.
   * `san` is as openssl takes it, and so are the extensions of `more`.
   */
  make(name, { cn = 'localhost', san = 'DNS:localhost,IP:127.0.0.1', days = 2, by, key = 'ec',
    authority = false, serial, more = [] } = {}) {
    const kind = { ec: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
      rsa: ['-newkey', 'rsa:2048'] }[key];
    openssl('req', '-x509', ...kind, '-nodes', '-days', String(days), '-subj', `/CN=${cn}`,
      ...(serial ? ['-set_serial', serial] : []),
      ...(san ? ['-addext', `subjectAltName=${san}`] : []),
      ...more.flatMap((extension) => ['-addext', extension]),
      '-addext', `basicConstraints=critical,CA:${authority ? 'TRUE' : 'FALSE'}`,
      ...(by ? ['-CA', this.path(`${by}.pem`), '-CAkey', this.path(`${by}.key`)] : []),
      '-keyout', this.path(`${name}.key`), '-out', this.path(`${name}.pem`));
    return this;
  }

  /** Writes the index of an authority, in which the certificate NAME has this status: V or R. */
  index(name, status = 'V') {
    const serial = openssl('x509', '-in', this.path(`${name}.pem`), '-noout', '-serial').toString();
    const revoked = status === 'R' ? '250101000000Z' : '';
    writeFileSync(this.path('index'), [status, '400101000000Z', revoked, serial.trim().split('=')[1],
      'unknown', '/CN=x'].join('\t') + '\n');
    return this.path('index');
  }

  /**
   * Makes FILE, the revocation list of the authority `by`, for so long, with these names in it, and
   * so many `others`. `keyed`: it says of which key it is; `begins`: in so many seconds.
   */
  revoke(file, names, { by = 'ca', seconds = 86400, keyed = false, others = 0, begins = 0 } = {}) {
    const time = (after) => new Date(Date.now() + 1000 * after).toISOString().replace(/^20|[-:T]|\.\d+/g, '');
    writeFileSync(this.path('crl'), `[ca]\ndefault_ca = ca\n[ca]\ndatabase = ${this.path('revoked')}\n`
      + `default_md = sha256\n${keyed ? 'crl_extensions = of\n[of]\nauthorityKeyIdentifier = keyid:always\n' : ''}`);
    writeFileSync(this.path('revoked'), names.map((name) => readFileSync(this.index(name, 'R'), 'utf8')).join('')
      + Array.from({ length: others }, (_, i) => ['R', '400101000000Z', '250101000000Z',
        (2n ** 100n + BigInt(i)).toString(16).toUpperCase().padStart(26, '0'), 'unknown', '/CN=x\n'].join('\t')).join(''));
    openssl('ca', '-gencrl', '-config', this.path('crl'), '-cert', this.path(`${by}.pem`),
      '-keyfile', this.path(`${by}.key`), '-crl_lastupdate', time(begins), '-crl_nextupdate', time(seconds),
      '-out', this.path(`${file}.new`));
    renameSync(this.path(`${file}.new`), this.path(file));
    return this;
  }

  /** Makes NAME.pem and NAME.key that were good for a day, years ago. */
  makeExpired(name) {
    const [config, request, index] = ['config', 'request', 'index'].map((what) => this.path(what));
    writeFileSync(config, `[ca]\ndefault_ca = ca\n[ca]\nnew_certs_dir = ${this.folder}\n`
      + `database = ${index}\nserial = ${index}.serial\npolicy = any\ndefault_md = sha256\n[any]\ncommonName = supplied\n`);
    writeFileSync(index, '');
    openssl('req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
      '-subj', '/CN=localhost', '-keyout', this.path(`${name}.key`), '-out', request);
    openssl('ca', '-batch', '-selfsign', '-create_serial', '-config', config, '-keyfile',
      this.path(`${name}.key`), '-startdate', '20200101000000Z', '-enddate', '20200102000000Z',
      '-notext', '-in', request, '-out', this.path(`${name}.pem`));
    return this;
  }

  /**
   * The `tls` of a router that shows `name`; with `clients`, the table of their names, also of the authority
   * "ca", and with `crl` of the list live.crl.
   */
  settings({ name = 'live', clients, crl = false } = {}) {
    const files = { certificate_file: `${name}.pem`, key_file: `${name}.key`,
      ...(clients && { client_ca_file: 'ca.pem' }), ...(crl && { client_crl_file: 'live.crl' }) };
    return { ...Object.fromEntries(Object.entries(files).map(([setting, file]) => [setting, this.path(file)])),
      ...(clients && { client_names: clients }) };
  }

  /** How a client comes in that has this certificate, or none. */
  client(name) {
    return { ca: this.text('ca.pem'), family: 4,
      ...(name && { cert: this.text(`${name}.pem`), key: this.text(`${name}.key`) }) };
  }

  /** What `from` has becomes what is called `to`, certificate and key one after the other. */
  become(from, to, { key = from } = {}) {
    for (const [source, target] of [[`${from}.pem`, `${to}.pem`], [`${key}.key`, `${to}.key`]]) {
      copyFileSync(this.path(source), this.path(`${target}.new`));
      renameSync(this.path(`${target}.new`), this.path(target));
    }
    return this;
  }
}
