import type { Target } from './target.ts';

/** Returns the target for a deployment that is already running. */
export function targetExistingDeployment(url: string, key: string | undefined): Target {
  const headers: Record<string, string> = key === undefined ? {} : { 'x-api-key': key };
  return { name: 'gateway', url, headers, observed: [{ url, headers }], stop: async () => undefined };
}
