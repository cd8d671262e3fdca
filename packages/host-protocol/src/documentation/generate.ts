import { readFileSync, writeFileSync } from 'node:fs';
import { withGeneratedParts } from './page.ts';

const page = new URL('../../../../docs/services/graph-host-protocol.md', import.meta.url);
writeFileSync(page, withGeneratedParts(readFileSync(page, 'utf8')));
