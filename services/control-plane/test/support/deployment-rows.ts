import { withDatabaseClient } from '@runyard/test-kit';
import type { TestPlatform } from './platform.ts';

/** Queries the deployment's own database. */
export async function rowsOf(
  { database }: Pick<TestPlatform, 'database'>,
  { id }: { id: string },
  text: string,
): Promise<Record<string, unknown>[]> {
  const url = new URL(database.url);
  url.pathname = `/runyard_${id.replaceAll('-', '')}`;
  return withDatabaseClient(url.href, async (client) => (await client.query(text)).rows);
}
