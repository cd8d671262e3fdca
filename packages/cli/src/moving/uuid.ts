import { isUuid } from '@runyard/contracts';
import { CliError } from '../cli-error.ts';

/**
 * Ids of a source become paths at the target, where its key opens more than the agent server.
 *
 * @throws CliError
 */
export function requireUuid(value: unknown, field: string): void {
  if (!isUuid(value)) throw new CliError(`its ${field} is not a UUID`);
}
