import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readProject } from './read-project.ts';
import { threadRetentionSettings } from './thread-retention-settings.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'project-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function project(checkpointer?: object) {
  await writeFile(join(directory, 'langgraph.json'), JSON.stringify({ graphs: { a: './a.ts' }, checkpointer }));
  return readProject(directory, 'langgraph.json');
}

it('threads are kept by default, and those with their own ttl are swept', async () => {
  const unsaid = { defaultTtl: undefined, sweepEveryMs: 300_000, sweepLimit: 1000 };
  expect(threadRetentionSettings(await project())).toEqual(unsaid);
  expect(threadRetentionSettings(await project({ ttl: { strategy: 'keep_latest' } }))).toEqual(unsaid);
  const ttl = { strategy: 'keep_latest', default_ttl: 60, sweep_interval_minutes: 0.5, sweep_limit: 10 };
  expect(threadRetentionSettings(await project({ ttl }))).toEqual({
    defaultTtl: { strategy: 'keep_latest', minutes: 60 },
    sweepEveryMs: 30_000,
    sweepLimit: 10,
  });
});

it('another checkpoint store is refused, and a warning names keys that only Python has', async () => {
  await expect(project({ backend: 'mongo' })).rejects.toThrow(/checkpointer\.backend/);
  await expect(project({ path: './saver.ts:saver' })).rejects.toThrow(/checkpointer\.path/);
  await expect(project({ ttl: { default_ttl: 0 } })).rejects.toThrow(/checkpointer\.ttl\.default_ttl/);
  const { warnings, checkpointer } = await project({
    backend: 'default',
    serde: { allowed_json_modules: [['a', 'b']], pickle_fallback: true },
  });
  expect(warnings).toEqual([expect.stringContaining('"checkpointer.serde.pickle_fallback" has no effect')]);
  expect(checkpointer?.serde?.allowed_json_modules).toEqual([['a', 'b']]);
});
