import { readFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Returns the address of a database of a platform that `npm start` runs, bypassing all services.
 *
 * @param name `org_access`, `control_plane` or the id of a deployment
 */
export async function findDatabaseUrl(dataDir: string, name: string): Promise<string> {
  const read = async (file: string) => (await readFile(path.join(dataDir, file), 'utf8')).trim();
  const isDeployment = /^[0-9a-f]{8}-/.test(name);
  const given = process.env.RUNYARD_POSTGRES_URL;
  // Several platforms may share a named server, so their services have prefixes; ids of deployments do not clash.
  const platform = given && !isDeployment ? `${(await read('secrets/installation')).slice(0, 8)}_` : '';
  const database = `runyard_${platform}${isDeployment ? name.replaceAll('-', '') : name}`;
  if (given) return at(given, database);
  const [password, port] = await Promise.all([read('postgres.password'), read('postgres.port')]);
  return at(`postgres://runyard:${password}@127.0.0.1:${port}`, database);
}

function at(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
