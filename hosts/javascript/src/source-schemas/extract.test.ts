import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SchemaReader } from './extract.ts';

const file = fileURLToPath(new URL('../../fixtures/old-settings/graph.ts', import.meta.url));
const reader = new SchemaReader({ files: [file], directory: dirname(file) });

it("packages are resolved as at run time, and optional values are recognized, whatever the project's compiler options", () => {
  expect(reader.read({ file, symbol: 'graph' }).graph.state).toEqual({
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { text: { type: 'string' }, count: { type: 'number' } },
    required: ['count'],
  });
});

it('the error says why there are no schemas', () => {
  expect(() => reader.read({ file, symbol: 'nothing' })).toThrow('has no export nothing');
  expect(() => reader.read({ file, symbol: 'noGraph' })).toThrow('do not say what graph noGraph is');
});
