import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseDocumentLines } from '@runyard/contracts/document-lines';
import { describe, expect, it } from 'vitest';
import { findBreakingChanges } from './breaking-changes.ts';
import { findPreviousRelease, readReleasedFile } from './release.ts';
import type { Schema } from './schema-shape.ts';

const note = {
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'string' },
    text: { type: 'string' },
    kind: { enum: ['a', 'b'] },
    next: { $ref: '#/components/schemas/Note' },
  },
};

/** Returns an API with one operation and one event, both of which carry a note. */
const documentOf = (schema: Schema, operation: Schema = {}): Schema => ({
  paths: {
    '/notes': {
      post: {
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } } },
        responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } } } },
        ...operation,
      },
    },
  },
  channels: { notes: { address: 'notes' } },
  components: {
    schemas: { Note: schema },
    messages: { 'note.made': { payload: { $ref: '#/components/schemas/Note' } } },
  },
});
const changed = (change: object): Schema => documentOf({ ...note, ...change } as Schema);
const changes = (after: Schema) => findBreakingChanges(documentOf(note), after);

describe('findBreakingChanges', () => {
  it('reports nothing for additions', () => {
    const properties = { ...note.properties, more: { type: 'string' }, kind: { type: 'string' } };
    expect(changes(documentOf(note))).toEqual([]);
    expect(changes(changed({ properties }))).toEqual([]);
  });

  it('finds a removed field, and reports each place once', () => {
    const { text: _, ...properties } = note.properties;
    expect(changes(changed({ properties }))).toEqual([
      'POST /notes, body: text is gone',
      'POST /notes, 200: text is gone',
      'note.made: text is gone',
    ]);
  });

  it('finds a field that became required of writers, and one that readers may miss', () => {
    expect(changes(changed({ required: ['id', 'text'] }))).toContain('POST /notes, body: text has become required');
    expect(changes(changed({ required: ['id', 'text'] }))).toContain('note.made: text has become required');
    expect(changes(changed({ required: ['id', 'text'] }))).not.toContain('POST /notes, 200: text has become required');
    expect(changes(changed({ required: [] }))).toContain('POST /notes, 200: id may now be missing');
    expect(changes(changed({ required: [] }))).not.toContain('POST /notes, body: id may now be missing');
  });

  it('finds values and types that are no longer accepted', () => {
    const kind = (schema: object) => changed({ properties: { ...note.properties, kind: schema } });
    expect(changes(kind({ enum: ['a'] }))).toContain('POST /notes, body.kind: "b" is gone');
    const text = changed({ properties: { ...note.properties, text: { type: 'integer' } } });
    expect(changes(text)).toContain('note.made.text: no longer a string');
  });

  it('looks into alternatives: a field exists if one has it, and is required if all require it', () => {
    const { text, ...others } = note.properties;
    const alternatives = (required: string[][]) =>
      documentOf({
        anyOf: [
          { type: 'object', required: required[0], properties: { ...others, text } },
          { type: 'object', required: required[1], properties: others },
        ],
      } as Schema);
    expect(changes(alternatives([['id', 'text'], ['id']]))).toEqual([]);
    expect(
      changes(
        alternatives([
          ['id', 'kind'],
          ['id', 'kind'],
        ]),
      ),
    ).toContain('POST /notes, body: kind has become required');
  });

  it('finds operations, parameters, answers, messages and channels that were removed', () => {
    const operation = { parameters: [{ name: 'limit', in: 'query' }] };
    const before = documentOf(note, operation);
    expect(findBreakingChanges(before, documentOf(note))).toEqual(['POST /notes: query parameter limit is gone']);
    const strict = { parameters: [{ name: 'limit', in: 'query', required: true }] };
    expect(findBreakingChanges(before, documentOf(note, strict))).toEqual([
      'POST /notes: query parameter limit has become required',
    ]);
    expect(changes(documentOf(note, { responses: {} }))).toEqual(['POST /notes: the answer 200 is gone']);
    expect(changes({ components: {} })).toEqual([
      'POST /notes is gone',
      'note.made is gone',
      'the channel notes is gone',
    ]);
  });
});

const release = findPreviousRelease(process.env.RUNYARD_PREVIOUS_RELEASE);
const repository = path.join(import.meta.dirname, '../..');
const folder = 'docs/api';
const parse = (lines: string) => parseDocumentLines(lines) as Schema;

// Before the first release there is nothing to compare with.
if (release) {
  describe(`what ${release.ref} promised`, () => {
    const names = readdirSync(path.join(repository, folder)).filter((name) => name.endsWith('.jsonl'));
    it.each(names)('still holds in %s: fields are only added, and none is required that was not', (name) => {
      const before = readReleasedFile(release, `${folder}/${name}`);
      if (before === undefined) return; // The file is new since then.
      const after = readFileSync(path.join(repository, folder, name), 'utf8');
      expect(findBreakingChanges(parse(before), parse(after))).toEqual([]);
    });
  });
}
