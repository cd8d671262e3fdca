import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configSchema } from '../src/config.ts';

const read = (name: string) => readFileSync(new URL(`../../../docs/services/${name}`, import.meta.url), 'utf8');

it.each(Object.keys(configSchema.properties))('%s is described in docs/services', (variable) => {
  expect(read('gateway.md') + read('README.md')).toContain(`| \`${variable}\` |`);
});
