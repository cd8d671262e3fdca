import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { extractSchemas } from './extract.ts';

const file = fileURLToPath(new URL('../../fixtures/old-settings/graph.ts', import.meta.url));

it('finds packages as they are run, and what may be left out, whatever the settings of the project', () => {
  expect(extractSchemas({ file, symbol: 'graph' }).graph.state).toEqual({
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { text: { type: 'string' }, count: { type: 'number' } },
    required: ['count'],
  });
});

it('says why there is nothing to be had', () => {
  expect(() => extractSchemas({ file, symbol: 'nothing' })).toThrow('has no export nothing');
  expect(() => extractSchemas({ file, symbol: 'noGraph' })).toThrow('do not say what graph noGraph is');
});
