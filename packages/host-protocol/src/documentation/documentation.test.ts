import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { toHost, toParent } from '../messages/messages.ts';
import { withGeneratedParts } from './page.ts';

const page = readFileSync(new URL('../../../../docs/services/graph-host-protocol.md', import.meta.url), 'utf8');

it('the page about the protocol matches its schemas (npm run generate:docs in packages/host-protocol)', () => {
  expect(page).toBe(withGeneratedParts(page));
});

it('the page has every message', () => {
  for (const type of [...Object.keys(toHost), ...Object.keys(toParent)]) expect(page).toContain(`| \`${type}\``);
});
