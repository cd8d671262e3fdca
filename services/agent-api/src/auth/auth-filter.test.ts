import { expect, it } from 'vitest';
import { AuthFilterError, compileFilter } from './auth-filter.ts';

it.each<[unknown, unknown]>([
  [{}, [{}]],
  [{ owner: 'ada' }, [{ owner: 'ada' }]],
  [{ owner: { $eq: '' } }, [{ owner: '' }]],
  [{ open: { $eq: false }, level: 0, org: null }, [{ open: false, level: 0, org: null }]],
  [{ teams: { $contains: 'red' } }, [{ teams: ['red'] }]],
  [{ teams: { $contains: ['red', ''] } }, [{ teams: ['red', ''] }]],
  [{ $or: [{ owner: 'ada' }, { teams: { $contains: 'red' } }] }, [{ owner: 'ada' }, { teams: ['red'] }]],
  [{ $and: [{ org: 1 }, { owner: 'ada' }] }, [{ org: 1, owner: 'ada' }]],
  [
    { org: 1, $or: [{ a: 1 }, { b: 2 }] },
    [
      { org: 1, a: 1 },
      { org: 1, b: 2 },
    ],
  ],
  [{ $and: [{ teams: { $contains: 'a' } }, { teams: { $contains: ['b', 'a'] } }] }, [{ teams: ['a', 'b'] }]],
  [{ $or: [{ owner: 'ada' }, {}] }, [{}]],
  [{ $and: Array(20).fill({ $or: [{ a: 1 }, { b: 1 }] }) }, [{ a: 1 }, { a: 1, b: 1 }, { b: 1 }]],
  [
    {
      $or: [
        { a: 1, b: { $contains: [1, 2] } },
        { b: { $contains: [2, 1] }, a: 1 },
        { a: '1', b: 1 },
      ],
    },
    [
      { a: 1, b: [2, 1] },
      { a: '1', b: 1 },
    ],
  ],
])('%j lets in rows that contain one of %j', (filter, scope) => {
  expect(compileFilter(filter)).toEqual(scope);
});

it.each([
  { $and: [{ owner: 'ada' }, { owner: 'bob' }] },
  { $and: [{ owner: 'ada' }, { owner: { $contains: 'ada' } }] },
  { owner: { $eq: 'ada', $contains: 'ada' } },
])('%j contradicts itself and lets nothing in', (filter) => {
  expect(compileFilter(filter)).toEqual([]);
});

const nested = (depth: number): unknown => (depth === 0 ? { a: 1 } : { $and: [nested(depth - 1)] });

it.each<[string, unknown]>([
  ['an operator that is unknown', { owner: { $ne: 'ada' } }],
  ['an unknown operator beside a known one', { owner: { $eq: 'ada', $regex: '.*' } }],
  ['an unknown operator at the top', { $not: [{ owner: 'ada' }] }],
  ['a condition without an operator', { owner: {} }],
  ['a plain object as value', { owner: { id: 1 } }],
  ['a list as value', { owner: ['ada'] }],
  ['an object in $eq', { owner: { $eq: { id: 1 } } }],
  ['a missing value', { owner: { $eq: undefined } }],
  ['an empty $contains', { teams: { $contains: [] } }],
  ['a $contains of objects', { teams: { $contains: [{}] } }],
  ['a $contains that is too long', { teams: { $contains: Array(101).fill('a') } }],
  ['an empty $or', { $or: [] }],
  ['an empty $and', { $and: [] }],
  ['an $or that is no list', { $or: { owner: 'ada' } }],
  ['an $or that is too long', { $or: Array(101).fill({ a: 1 }) }],
  ['an $or of texts', { $or: ['ada'] }],
  [
    'too many alternatives',
    { $and: Array.from({ length: 8 }, (_, at) => ({ $or: [{ [`a${at}`]: 1 }, { [`b${at}`]: 1 }] })) },
  ],
  ['too deep nesting', nested(9)],
  ['text that Postgres would change', { owner: 'a\u0000' }],
  ['a number without JSON', { level: Number.NaN }],
  ['a list', []],
  ['nothing', null],
  ['a text', 'ada'],
])('a filter with %s is refused', (_, filter) => {
  expect(() => compileFilter(filter)).toThrow(AuthFilterError);
});
