/*
 * loud_server.mjs - a server of which too much comes: "large" is answered with 7 MB, "chatter" with
 * notifications without end. "small" is answered as others do.
 */
import { serve } from './small_server.mjs';

const CHATTER = Array.from({ length: 200 }, (_, n) =>
  `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { n } })}\n`).join('');
const chatter = () => process.stdout.write(CHATTER, () => setImmediate(chatter));

serve('loud', {
  small: () => ({}),
  large: () => ({ text: 'x'.repeat(7_000_000) }),
  chatter: () => setImmediate(chatter) && {},
}, { capabilities: {} });
