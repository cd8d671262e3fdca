import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { buildDocuments } from './descriptions.ts';
import { parseDocumentLines, toDocumentLines } from './document-lines.ts';

const folder = fileURLToPath(new URL('../../../../docs/api/', import.meta.url));
const documents = buildDocuments();

describe('the documents in docs/api', () => {
  it.each(Object.entries(documents))('%s matches the contracts (else: npm run generate:docs)', (name, document) => {
    expect(readFileSync(`${folder}${name}.jsonl`, 'utf8')).toBe(toDocumentLines(document));
  });

  it.each(Object.entries(documents))('%s is whole in its lines', (_, document) => {
    expect(parseDocumentLines(toDocumentLines(document))).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('are exactly the generated ones', () => {
    const names = Object.keys(documents).map((name) => `${name}.jsonl`);
    expect(readdirSync(folder).sort()).toEqual(['README.md', ...names].sort());
  });

  it.each(Object.entries(documents))('%s refers only to what it defines', (_, document) => {
    for (const reference of referencesIn(document)) expect(resolve(document, reference), reference).toBeDefined();
  });
});

function referencesIn(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  const own = (value as { $ref?: unknown }).$ref;
  return [...(typeof own === 'string' ? [own] : []), ...Object.values(value).flatMap(referencesIn)];
}

function resolve(document: unknown, reference: string): unknown {
  const parts = reference.replace(/^#\//, '').split('/');
  return parts.reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], document);
}
