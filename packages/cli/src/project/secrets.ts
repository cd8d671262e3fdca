import { isReservedVariable, type Secret } from '@runyard/contracts';

/** The command's own settings, of no use to a deployment; those that begin with RUNYARD_ are reserved anyway. */
const OWN_VARIABLES = ['LANGGRAPH_HOST_API_KEY', 'LANGGRAPH_HOST_URL'];
/** What the platform takes as a variable's name. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * A project's variables as secrets of its deployment. Left out: empty ones, names that the platform keeps for itself, and
 * whatever holds the key that this command signs in with, since a deployment's code must not get hold of it.
 */
export function secretsOf(
  env: Record<string, string>,
  apiKey: string | undefined,
): { secrets: Secret[]; leftOut: string[] } {
  const secrets: Secret[] = [];
  const leftOut: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === '') continue;
    const isOurs = isReservedVariable(name) || OWN_VARIABLES.includes(name) || value === apiKey;
    if (isOurs || !NAME.test(name)) leftOut.push(name);
    else secrets.push({ name, value });
  }
  return { secrets, leftOut };
}
