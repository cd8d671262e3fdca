import { CliError } from '../cli-error.ts';

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value);
}

/**
 * Ids of a source become paths at the target, where its key opens more than the agent server.
 *
 * @throws CliError
 */
export function requireUuid(value: unknown, field: string): void {
  if (!isUuid(value)) throw new CliError(`its ${field} is not a UUID`);
}
