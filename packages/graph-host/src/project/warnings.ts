import type { TSchema } from 'typebox';
import { ProjectFile, pythonSections } from './schema.ts';
import { noEffectOf } from './sections/no-effect.ts';

/** Returns one sentence per key that is unknown, or known and without effect here. */
export function findWarnings(content: object): string[] {
  return warningsIn(content, { ...pythonSections, ...ProjectFile.properties }, '');
}

function warningsIn(content: object, keys: Record<string, TSchema>, path: string): string[] {
  return Object.entries(content).flatMap(([key, value]) => {
    const name = path + key;
    const schema = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (schema === undefined) return [`langgraph.json: "${name}" is not known and has no effect.`];
    const why = noEffectOf(schema);
    if (why !== undefined) return [`langgraph.json: "${name}" has no effect: ${why}.`];
    const inner = (schema as { properties?: Record<string, TSchema> }).properties;
    return inner && typeof value === 'object' && value !== null ? warningsIn(value, inner, `${name}.`) : [];
  });
}
