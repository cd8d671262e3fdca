import { describe, expect, it } from 'vitest';
import { faultsOf } from './schema-form-faults.ts';
import { fieldOf, initialValue, type JsonSchema, Unparsed } from './schema-form-fields.ts';

const kindOf = (schema: JsonSchema, root: JsonSchema = schema) => fieldOf(schema, root).control.kind;
const faults = (value: unknown, schema: JsonSchema) => faultsOf(value, schema, schema);

describe('a form of a JSON Schema', () => {
  it('has a control for each kind of value, and JSON for what it cannot express', () => {
    expect(kindOf({ type: 'string' })).toBe('text');
    expect(kindOf({ type: 'integer' })).toBe('number');
    expect(kindOf({ type: 'boolean' })).toBe('boolean');
    expect(kindOf({ enum: ['a', 'b'] })).toBe('enum');
    expect(kindOf({ oneOf: [{ const: 'a' }, { const: 'b' }] })).toBe('enum');
    expect(kindOf({ type: 'array', items: { type: 'string' } })).toBe('array');
    expect(kindOf({ properties: { a: {} } })).toBe('object');
    expect(kindOf({ type: 'object' })).toBe('json');
    expect(kindOf({ type: 'array' })).toBe('json');
    expect(kindOf({})).toBe('json');
  });

  it('follows references, of definitions that refer to themselves too', () => {
    const root = {
      $ref: '#/$defs/Tree',
      $defs: { Tree: { type: 'object', properties: { child: { $ref: '#/$defs/Tree' } } } },
    };
    const { control } = fieldOf(root, root);
    if (control.kind !== 'object') throw new Error(control.kind);
    expect(fieldOf(control.properties[0]!.schema, root).control.kind).toBe('object');
    expect(initialValue(root, root)).toEqual({});
  });

  it('takes anything where references lead in a circle or nowhere', () => {
    const root = {
      $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' }, C: { allOf: [{ $ref: '#/$defs/C' }] } },
    };
    expect(kindOf({ $ref: '#/$defs/A' }, root)).toBe('json');
    expect(kindOf({ $ref: '#/$defs/C' }, root)).toBe('json');
    expect(kindOf({ $ref: '#/$defs/constructor' }, root)).toBe('json');
    expect(kindOf({ $ref: 'https://example.com/schema' }, root)).toBe('json');
  });

  it('shows a nullable value as that value', () => {
    for (const schema of [
      { type: ['string', 'null'] },
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      { type: 'string', nullable: true },
    ]) {
      expect(fieldOf(schema, schema)).toMatchObject({ isNullable: true, control: { kind: 'text' } });
      expect(faults(null, schema)).toEqual([]);
    }
  });

  it('offers alternatives by their title, constant or type', () => {
    const schema = {
      anyOf: [
        { title: 'Point', type: 'object', properties: {} },
        { type: 'object', properties: { kind: { const: 'circle' } } },
        { type: 'string' },
      ],
    };
    const { control } = fieldOf(schema, schema);
    expect(control.kind === 'choice' && control.choices.map(({ label }) => label)).toEqual([
      'Point',
      'circle',
      'string',
    ]);
  });

  it('joins the parts of allOf', () => {
    const schema = {
      allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: {} } }],
    };
    expect(faults({}, schema)).toEqual([{ path: '/a', text: 'Is required' }]);
    const { control } = fieldOf(schema, schema);
    expect(control.kind === 'object' && control.properties.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('begins with defaults and what is required, and leaves out the rest', () => {
    const schema = {
      type: 'object',
      required: ['name', 'loud', 'tags', 'mode'],
      properties: {
        name: { type: 'string' },
        loud: { type: 'boolean' },
        tags: { type: 'array', items: {} },
        mode: { const: 'fast' },
        retries: { type: 'integer', default: 3 },
        note: { type: 'string' },
      },
    };
    expect(initialValue(schema, schema)).toEqual({ loud: false, tags: [], mode: 'fast', retries: 3 });
  });

  it('says what is wrong, and where', () => {
    const schema = {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 2, pattern: '^[a-z]+$' },
        'a/b': { type: 'integer', minimum: 1 },
        tags: { type: 'array', maxItems: 1, items: { enum: ['x'] } },
      },
    };
    expect(faults({ name: 'A', 'a/b': 0.5, tags: ['y', 'x'] }, schema)).toEqual([
      { path: '/name', text: 'Needs at least 2 characters' },
      { path: '/name', text: 'Must match ^[a-z]+$' },
      { path: '/a~1b', text: 'Must be a whole number' },
      { path: '/a~1b', text: 'Must be at least 1' },
      { path: '/tags', text: 'Takes at most 1 entries' },
      { path: '/tags/0', text: 'Choose one of the values' },
    ]);
    expect(faults({ name: 'ok' }, schema)).toEqual([]);
  });

  it('counts half a number as a fault, and not as a text', () => {
    expect(faults(new Unparsed('1e'), { type: 'number' })).toEqual([{ path: '', text: 'Must be a number' }]);
    expect(faults(new Unparsed('{'), {})).toEqual([{ path: '', text: 'This is not JSON' }]);
  });

  it('says of alternatives what the nearest one lacks', () => {
    const schema = {
      oneOf: [{ type: 'string' }, { type: 'object', required: ['city'], properties: { city: { type: 'string' } } }],
    };
    expect(faults({}, schema)).toEqual([{ path: '/city', text: 'Is required' }]);
    expect(faults('Oslo', schema)).toEqual([]);
  });
});
