import type { TSchema } from 'typebox';
import type { ProjectLanguage } from './project-source.ts';
import { ProjectFile, pythonSections } from './schema.ts';
import { noEffectOf } from './sections/no-effect.ts';

/** Returns one sentence per key that is unknown, or known and without effect for projects in the language. */
export function findWarnings(content: object, language: ProjectLanguage): string[] {
  return warningsIn(content, { ...pythonSections, ...ProjectFile.properties }, '', language);
}

function warningsIn(content: object, keys: Record<string, TSchema>, path: string, language: ProjectLanguage): string[] {
  return Object.entries(content).flatMap(([key, value]) => {
    const name = path + key;
    const schema = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (schema === undefined) return [`langgraph.json: "${name}" is not known and has no effect.`];
    const why = noEffectOf(schema, language);
    if (why !== undefined) return [`langgraph.json: "${name}" has no effect: ${why}.`];
    return warningsOf(value, schema as Nested, name, language);
  });
}

/** The keys of an object, the values of a map, and the forms that a value may have. */
interface Nested {
  properties?: Record<string, TSchema>;
  patternProperties?: Record<string, Nested>;
  anyOf?: Nested[];
}

function warningsOf(value: unknown, schema: Nested, name: string, language: ProjectLanguage): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  if (schema.properties) return warningsIn(value, schema.properties, `${name}.`, language);
  const ofValues = Object.values(schema.patternProperties ?? {});
  if (ofValues.length > 0) {
    return Object.entries(value).flatMap(([key, inner]) =>
      ofValues.flatMap((each) => warningsOf(inner, each, `${name}.${key}`, language)),
    );
  }
  return (schema.anyOf ?? []).flatMap((form) => warningsOf(value, form, name, language));
}
