import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';

/** A record that a platform has written. */
export interface PlatformRecord {
  /** The name of the record: `logs/gateway.log`, `postgres:runyard_control_plane.deployments`. */
  name: string;
  kind: 'log' | 'topic' | 'redis' | 'table';
  bytes: Buffer;
}

/**
 * Returns everything that a platform with servers of its own has written: logs of services, servers and deployments,
 * the segments of all topics, Redis' log of all commands that changed something, and all rows of all databases.
 */
async function platformRecords(dataDir: string): Promise<PlatformRecord[]> {
  const files = await readdir(dataDir, { recursive: true });
  const records: PlatformRecord[] = [];
  for (const name of files) {
    const kind = kindOf(name);
    // Segments come and go while they are listed.
    const bytes = kind && (await readFile(path.join(dataDir, name)).catch(() => undefined));
    if (kind && bytes) records.push({ name, kind, bytes });
  }
  return [...records, ...(await tables(dataDir))];
}

/** Returns the records as soon as they are complete; after 20 s as they are then. */
export async function waitForPlatformRecords(
  dataDir: string,
  isComplete: (records: PlatformRecord[]) => boolean,
): Promise<PlatformRecord[]> {
  let records: PlatformRecord[] = [];
  const read = async () => {
    records = await platformRecords(dataDir);
    return isComplete(records);
  };
  await waitFor(read, { what: 'all records' }).catch(() => {});
  return records;
}

function kindOf(file: string): PlatformRecord['kind'] | undefined {
  if (/^kafka\/.*\.log$/.test(file)) return 'topic';
  if (/^redis\/.*\.(aof|rdb)$/.test(file)) return 'redis';
  return /^[^/]*\.log$|^logs\/.*\.log$|^deployments\/logs\/.*\.jsonl$/.test(file) ? 'log' : undefined;
}

/** Returns the spans of a trace as soon as all of these texts are in them; after 20 s as they are then. */
export async function waitForSpans(collectorUrl: string, traceId: string, texts: string[]): Promise<string> {
  let spans = '';
  const read = async () => {
    spans = await (await fetch(`${collectorUrl}/traces/${traceId}`)).text();
    return texts.every((text) => spans.includes(text));
  };
  await waitFor(read, { what: 'the spans of the requests' }).catch(() => {});
  return spans;
}

/** Returns the platform's own secrets, as its launcher keeps them in files, by the name of their file. */
export async function platformSecrets(dataDir: string): Promise<[name: string, value: string][]> {
  const inFolder = (await readdir(path.join(dataDir, 'secrets'))).filter((name) => name !== 'installation');
  const names = ['api-key', 'postgres.password', 'redis.password', ...inFolder.map((name) => `secrets/${name}`)];
  return Promise.all(
    names.map(
      async (name): Promise<[string, string]> => [name, (await readFile(path.join(dataDir, name), 'utf8')).trim()],
    ),
  );
}

async function tables(dataDir: string): Promise<PlatformRecord[]> {
  const [port, password] = await Promise.all(
    ['postgres.port', 'postgres.password'].map(async (name) =>
      (await readFile(path.join(dataDir, name), 'utf8')).trim(),
    ),
  );
  const urlOf = (database: string) => `postgres://runyard:${password}@127.0.0.1:${port}/${database}`;
  const databases = await withDatabaseClient(urlOf('postgres'), async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "SELECT datname AS name FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'",
    );
    return rows.map(({ name }) => name);
  });
  const records: PlatformRecord[] = [];
  for (const database of databases) records.push(...(await tablesOf(database, urlOf(database))));
  return records;
}

function tablesOf(database: string, url: string): Promise<PlatformRecord[]> {
  return withDatabaseClient(url, async (client) => {
    const { rows: names } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const records: PlatformRecord[] = [];
    for (const { name } of names) {
      // Bytes come as hexadecimal digits.
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      const bytes = Buffer.from(rows.map(({ row }) => row).join('\n'));
      records.push({ name: `postgres:${database}.${name}`, kind: 'table', bytes });
    }
    return records;
  });
}
