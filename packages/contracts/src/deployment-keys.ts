/**
 * The variable with the keys that the platform keeps for the data of a deployment, in the form of LANGGRAPH_AES_KEY. The
 * services of the deployment read it; its code does not see it.
 */
export const DEPLOYMENT_KEYS_VARIABLE = 'RUNYARD_DEPLOYMENT_KEYS';

/** Returns the prefix of every Redis key and channel of a deployment. Some names have the prefix in hash-tag braces. */
export function redisKeyPrefix(deploymentId: string): string {
  return `runyard:${deploymentId}`;
}
