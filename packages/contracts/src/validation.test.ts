import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { conforms, normalizeQuery, validatorOf } from './validation.ts';
import { formatPath } from './validation-issue.ts';

const Named = Type.Object({ name: Type.String() }, { $id: 'Named' });

function issuesOf(schema: Parameters<typeof validatorOf>[0], value: unknown): string[] {
  const result = validatorOf(schema, { allIssues: true })(value);
  return result.ok ? [] : result.issues.map((issue) => `${formatPath(issue.path)} ${issue.message}`);
}

describe('validators', () => {
  it('accept one component embedded in many schemas', () => {
    const pair = Type.Object({ first: Named, second: Type.Optional(Named), all: Type.Array(Named) });
    expect(issuesOf(pair, { first: { name: 'a' }, second: { name: 'b' }, all: [{ name: 'c' }] })).toEqual([]);
    expect(issuesOf(Named, { name: 'a' })).toEqual([]);
  });

  it('leave unknown keys alone, and refuse them by name where a schema is closed', () => {
    expect(validatorOf(Named)({ name: 'a', more: 1 })).toEqual({ ok: true, value: { name: 'a', more: 1 } });
    const closed = Type.Object({ name: Type.String() }, { additionalProperties: false });
    expect(issuesOf(closed, { name: 'a' })).toEqual([]);
    expect(issuesOf(closed, { name: 'a', more: 1 })).toEqual(['more is not a known field']);
  });

  it('fill in defaults', () => {
    const paged = Type.Object({ limit: Type.Integer({ default: 10 }) });
    expect(validatorOf(paged)({})).toEqual({ ok: true, value: { limit: 10 } });
  });

  it('turn text into numbers and booleans only when told to', () => {
    const schema = Type.Object({ limit: Type.Integer(), wait: Type.Boolean() });
    expect(validatorOf(schema, { coerce: true })({ limit: '3', wait: 'true' })).toEqual({
      ok: true,
      value: { limit: 3, wait: true },
    });
    expect(validatorOf(schema)({ limit: '3', wait: 'true' }).ok).toBe(false);
  });

  it('accept a UUID only in its plain form', () => {
    const id = Type.String({ format: 'uuid' });
    expect(conforms(id, '046b5dc7-2108-582c-9c6c-31d556d138f0')).toBe(true);
    expect(conforms(id, 'urn:uuid:046b5dc7-2108-582c-9c6c-31d556d138f0')).toBe(false);
    expect(conforms(id, '046b5dc7')).toBe(false);
  });

  it('accept recursive schemas', () => {
    const Tree = Type.Cyclic({ Tree: Type.Object({ children: Type.Array(Type.Ref('Tree')) }) }, 'Tree');
    expect(conforms(Tree, { children: [{ children: [] }] })).toBe(true);
    expect(conforms(Tree, { children: [{ children: 1 }] })).toBe(false);
  });
});

describe('an issue of a validator', () => {
  const schema = Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    mode: Type.Optional(Type.Union([Type.Literal('values'), Type.Literal('updates')])),
    modes: Type.Optional(
      Type.Union([Type.Literal('values'), Type.Array(Type.Union([Type.Literal('values'), Type.Literal('updates')]))]),
    ),
    id: Type.Optional(Type.Union([Type.String({ format: 'uuid' }), Type.Null()])),
    items: Type.Optional(Type.Array(Type.Object({ name: Type.String({ minLength: 1 }) }), { minItems: 1 })),
  });

  it.each([
    [[], ' must be an object'],
    [{ limit: 0 }, 'limit must be at least 1'],
    [{ limit: 1001 }, 'limit must be at most 1000'],
    [{ limit: 'x' }, 'limit must be an integer'],
    [{ mode: 'nope' }, 'mode must be one of "values", "updates"'],
    [{ modes: 'nope' }, 'modes must be one of "values" or an array'],
    [{ modes: ['nope'] }, 'modes[0] must be one of "values", "updates"'],
    [{ id: 'x' }, 'id must be a valid UUID or null'],
    [{ items: [] }, 'items must not be empty'],
    [{ items: [{}] }, 'items[0].name is required'],
    [{ items: [{ name: '' }] }, 'items[0].name must not be empty'],
  ])('names the place and the expectation: %j', (value, message) => {
    expect(issuesOf(schema, value)).toEqual([message]);
  });
});

describe('an issue inside of a union', () => {
  const Secret = Type.Object({ name: Type.String(), value: Type.String({ minLength: 1 }) });
  const Cat = Type.Object({ kind: Type.Literal('cat'), lives: Type.Integer() });
  const Dog = Type.Object({ kind: Type.Literal('dog'), tail: Type.Boolean(), name: Type.String() });
  const schema = Type.Object({
    secrets: Type.Optional(Type.Union([Type.Array(Secret), Type.Null()])),
    spec: Type.Optional(
      Type.Union([Type.Null(), Type.Object({ cpu: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]) })]),
    ),
    pet: Type.Optional(Type.Union([Cat, Dog])),
    id: Type.Optional(Type.Union([Type.String({ pattern: '^a' }), Type.String({ pattern: '^b' }), Type.Null()])),
  });

  it.each([
    [
      { secrets: [{ name: 'OK', value: 'x' }, { name: 5 }] },
      ['secrets[1].value is required', 'secrets[1].name must be a string'],
    ],
    [
      { secrets: [{ name: 'OK', value: '' }, 7] },
      ['secrets[0].value must not be empty', 'secrets[1] must be an object'],
    ],
    [{ secrets: 5 }, ['secrets must be an array or null']],
    [{ spec: { cpu: 0 } }, ['spec.cpu must be at least 1 or null']],
    [{ spec: { cpu: 'many' } }, ['spec.cpu must be an integer or null']],
    [{ pet: { kind: 'cat', lives: 'nine' } }, ['pet.lives must be an integer']],
    [{ pet: { kind: 'dog' } }, ['pet.tail is required', 'pet.name is required']],
    [{ pet: { kind: 'cow' } }, ['pet is not valid: kind must be "cat"']],
    [{ id: 'c' }, ['id must match pattern "^a"']],
  ])('%j is reported at the fault', (value, expected) => {
    const issues = issuesOf(schema, value);
    if ('id' in value) expect(issues.map((issue) => issue.split(' ', 1)[0])).toEqual(['id']);
    else expect([...issues].sort()).toEqual([...expected].sort());
  });

  it('is found among very many as quickly as any other', () => {
    const many = { secrets: Array.from({ length: 20_000 }, () => ({ name: 5, value: 'x' })) };
    expect(issuesOf(schema, many)).toHaveLength(20_000);
    const nested = Type.Array(Type.Union([Type.Object({ a: Type.String() }), Type.Null()]));
    expect(issuesOf(nested, Array(20_000).fill({ a: 5 }))).toHaveLength(20_000);
  });
});

describe('query parameters', () => {
  const schema = Type.Object({
    select: Type.Optional(Type.Array(Type.String())),
    limit: Type.Optional(Type.Integer()),
    modes: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  });

  it('become lists where the schema has lists, and the last one wins elsewhere', () => {
    expect(normalizeQuery(schema, { select: 'a', limit: ['1', '2'], modes: 'm', unknown: 'x' })).toEqual({
      select: ['a'],
      limit: '2',
      modes: 'm',
    });
    expect(normalizeQuery(schema, { select: ['a', 'b'], modes: ['m', 'n'] })).toEqual({
      select: ['a', 'b'],
      modes: ['m', 'n'],
    });
  });

  it('cannot reach into prototypes', () => {
    expect(normalizeQuery(schema, JSON.parse('{"__proto__":"x","constructor":"y"}'))).toEqual({});
  });
});
