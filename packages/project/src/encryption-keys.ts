import { DEPLOYMENT_KEYS_VARIABLE } from '@runyard/contracts';
import { GraphLoadError } from '@runyard/host-protocol';

/**
 * The variables with keys of the deployment's data: the first encrypts, all decrypt. Other servers tell keys of tagged
 * and of untagged data apart; here all data names its key.
 */
const VARIABLES = ['LANGGRAPH_AES_KEY', 'LANGGRAPH_AES_FALLBACK_KEYS', 'LANGGRAPH_AES_LEGACY_KEY'] as const;

/**
 * Returns all keys, separated by commas, the newest first; undefined when there is none.
 *
 * @param find returns the value of a variable, if it has one
 * @throws GraphLoadError when keys decrypt and none encrypts
 */
export function encryptionKeys(find: (name: string) => string | undefined): string | undefined {
  const [key, ...others] = VARIABLES.map(find);
  const older = others.filter((value) => value !== undefined);
  if (key === undefined && older.length > 0) {
    throw new GraphLoadError(
      `${VARIABLES[1]} and ${VARIABLES[2]} only decrypt: ${VARIABLES[0]}, which encrypts, is missing.`,
    );
  }
  return key && [key, ...older].join(',');
}

/** Removes the keys to the deployment's data: they are for the platform alone, from whichever source. */
export function withoutEncryptionKeys(variables: Record<string, string>): Record<string, string> {
  const secret: readonly string[] = [...VARIABLES, DEPLOYMENT_KEYS_VARIABLE];
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !secret.includes(name)));
}
