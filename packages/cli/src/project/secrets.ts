import { isReservedVariable, type Secret } from '@runyard/contracts';

/** The command's own settings, which a deployment does not need; those that begin with RUNYARD_ are reserved anyway. */
const OWN_VARIABLES = ['LANGGRAPH_HOST_API_KEY', 'LANGGRAPH_HOST_URL'];
/** Variable names that the platform accepts. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Returns a project's variables as secrets of its deployment. It leaves out empty ones, reserved names, and every
 * variable with the key that this command signs in with, because a deployment's code must not get it.
 */
export function collectSecrets(
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
