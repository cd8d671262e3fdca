import { join } from 'node:path';
import { findDocker } from '../docker.ts';
import { InfrastructureError } from '../infrastructure-error.ts';
import { nearestExisting } from '../nearest-existing.ts';
import { chooseAccount } from './account.ts';
import { checkPostgres } from './connection.ts';
import { chooseInstallation, listPostgresInstallations } from './installations.ts';
import { NO_POSTGRES, POSTGRES_VARIABLE } from './messages.ts';

/**
 * Returns which Postgres a start would use, in words. It starts and changes nothing.
 *
 * @throws InfrastructureError when there is none, or it could not run on this data folder
 */
export async function lookForPostgres(environment: NodeJS.ProcessEnv, dataDir: string): Promise<string> {
  const given = environment[POSTGRES_VARIABLE];
  if (given) return `${await checkPostgres(given, POSTGRES_VARIABLE)}, the one at ${POSTGRES_VARIABLE}`;
  const dataFolder = join(dataDir, 'postgres/data');
  const found = await chooseInstallation(listPostgresInstallations(environment), dataFolder);
  if (found) {
    // A file in the nearest folder stands for the data folder that a start would create.
    const data = join(await nearestExisting(dataFolder), 'data');
    await chooseAccount([data, join(found.bin, 'postgres')]);
    return `${found.major}, ${found.origin === 'machine' ? `in ${found.bin}` : 'of the npm package'}`;
  }
  if (await findDocker(environment)) return 'postgres:17, by Docker';
  throw new InfrastructureError(NO_POSTGRES);
}
