import { readFileSync, writeFileSync } from 'node:fs';
import { withGeneratedParts } from './page.ts';

const page = new URL('../../../../docs/langgraph-json.md', import.meta.url);
writeFileSync(page, withGeneratedParts(readFileSync(page, 'utf8')));
