import { decode, encode } from '@jridgewell/sourcemap-codec';
import { expect, it } from 'vitest';
import { thinned } from './thin-source-maps.mjs';

it('a thinned source map keeps each line of a source', () => {
  const sources = ['../src/run.ts', '../../../node_modules/.pnpm/pg@8/node_modules/pg/lib/client.js'];
  const mappings = encode([
    [
      [0, 0, 10, 0],
      [4, 0, 10, 4],
      [9, 0, 11, 2, 0],
    ],
    [
      [0, 1, 70, 0],
      [6, 1, 70, 6],
      [8, 1, 71, 2],
    ],
    [
      [2, 1, 72, 0],
      [5, 0, 12, 0],
      [7, 0, 12, 3],
      [9, 1, 73, 0],
      [12, 1, 73, 9],
    ],
    [],
  ]);
  const map = thinned({ version: 3, sources, names: ['query'], mappings });
  expect(map).toMatchObject({ version: 3, sources, names: ['query'] });
  expect(decode(map.mappings)).toEqual([
    [[0, 0, 10, 0]],
    [[0, 1, 70, 0]],
    [
      [2, 1, 72, 0],
      [5, 0, 12, 0],
      [9, 1, 73, 0],
    ],
    [],
  ]);
});
