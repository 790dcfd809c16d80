/* record.mjs - draws docs/demo-consent.svg anew: what demo 2 prints when the person says yes. */
import { writeFileSync } from 'node:fs';
import { CONSENT, pictureOfConsent } from './lib/recording.mjs';

writeFileSync(CONSENT, await pictureOfConsent());
