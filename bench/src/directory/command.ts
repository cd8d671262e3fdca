import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startInfrastructure } from '@runyard/local-infra';
import { startServiceProcess } from '@runyard/test-kit';
import pg from 'pg';
import { readNumber } from '../number-flags.ts';
import { writeJson } from '../report/write-json.ts';
import { type DirectorySize, type DirectoryTimes, measureDirectory } from './measure-directory.ts';
import { ScimDirectory } from './scim-directory.ts';

/** The sizes before the last one, each ten times the one before. */
const STEPS: readonly DirectorySize[] = [
  { members: 100, groups: 10 },
  { members: 1_000, groups: 100 },
];

/** Runs `npm run bench -- directory`: syncs people and groups by SCIM into an org-access of its own, and prints ratios. */
export async function runDirectoryCommand(
  args: string[],
  { repository, say }: { repository: string; say: (line: string) => void },
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      members: { type: 'string', default: '10000' },
      groups: { type: 'string', default: '1000' },
      json: { type: 'string' },
    },
  });
  const [members, groups] = [readNumber('members', values.members), readNumber('groups', values.groups)];
  const sizes = [...STEPS.filter((step) => step.members < members && step.groups < groups), { members, groups }];
  const times = await runDirectory(join(repository, 'services/org-access/dist/main.js'), sizes, say);
  await writeJson(values.json, { sizes, times });
  process.stdout.write(`\n${formatTable(times, sizes)}\n`);
}

async function runDirectory(
  entry: string,
  sizes: readonly DirectorySize[],
  say: (line: string) => void,
): Promise<DirectoryTimes[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'runyard-bench-directory-'));
  const closers: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  try {
    const servers = await startInfrastructure({ dataDir, servers: ['postgres', 'redis'] });
    closers.push(() => servers.stop());
    await query(servers.postgres.adminUrl, 'CREATE DATABASE directory');
    const database = new URL(servers.postgres.adminUrl);
    database.pathname = '/directory';
    const internalToken = randomBytes(32).toString('hex');
    const service = await startServiceProcess({
      entry,
      env: { LOG_LEVEL: 'warn', EVENT_BUS: 'redis' },
      secrets: {
        DATABASE_URI: database.href,
        EVENT_BUS_REDIS_URI: servers.redis.url,
        INTERNAL_TOKEN: internalToken,
        ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      },
      readyPath: '/ok?check_db=1',
    });
    closers.push(() => service.stop());
    const headers = { authorization: `Bearer ${internalToken}`, 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}/internal/bootstrap`, { method: 'POST', headers, body: '{}' });
    const { organization_id } = (await answer.json()) as { organization_id: string };
    const token = `ryscim_${randomBytes(32).toString('hex')}`;
    await query(
      database.href,
      `INSERT INTO scim_token (id, organization_id, description, token_sha256, short_token)
      VALUES ($1, $2, 'bench', $3, 'bench')`,
      [randomUUID(), organization_id, createHash('sha256').update(token).digest()],
    );
    return await measureDirectory(new ScimDirectory({ url: service.url, token }), sizes, say);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function query(connectionString: string, text: string, values: unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString, application_name: 'runyard-bench' });
  await client.connect();
  await client.query(text, values).finally(() => client.end());
}

function formatTable(times: readonly DirectoryTimes[], sizes: readonly DirectorySize[]): string {
  const width = Math.max(...times.map(({ name }) => name.length)) + 2;
  const row = (name: string, ...cells: string[]) =>
    name.padEnd(width) + cells.map((cell) => cell.padStart(14)).join('');
  return [
    row('milliseconds, p50', ...sizes.map(({ members, groups }) => `${members}, ${groups}`), 'last to first'),
    ...times.map(({ name, medianMs }) =>
      row(name, ...medianMs.map((ms) => ms.toFixed(2)), (medianMs.at(-1)! / medianMs[0]!).toFixed(2)),
    ),
  ].join('\n');
}
