import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { buildDocuments, formatDocument } from './descriptions.ts';

const folder = fileURLToPath(new URL('../../../../docs/api/', import.meta.url));
const documents = buildDocuments();

describe('the documents in docs/api', () => {
  it.each(Object.entries(documents))('%s matches the contracts (else: npm run generate:docs)', (name, document) => {
    expect(readFileSync(`${folder}${name}`, 'utf8')).toBe(formatDocument(document));
  });

  it('are exactly the generated ones', () => {
    expect(readdirSync(folder).sort()).toEqual(Object.keys(documents).sort());
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
