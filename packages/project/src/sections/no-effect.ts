import type { TSchema } from 'typebox';
import type { ProjectLanguage } from '../project-source.ts';

/** Why a key has no effect for projects in JavaScript alone. */
export const FOR_PYTHON = 'it is for Python projects';

/**
 * Marks a key that is read and checked and has no effect here. Its use is logged at start with `why`, and the
 * documentation says the same.
 *
 * @param why a clause that follows a colon, like "it is for Python projects"
 */
export function noEffect<T extends TSchema>(schema: T, why: string): T {
  return { ...schema, noEffect: why };
}

/** Returns why a key has no effect for projects in the language; undefined for one that has. */
export function noEffectOf(schema: TSchema, language: ProjectLanguage): string | undefined {
  const { noEffect: why } = schema as { noEffect?: string };
  return why === FOR_PYTHON && language === 'python' ? undefined : why;
}
