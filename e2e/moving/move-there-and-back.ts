import { randomUUID } from 'node:crypto';
import { Client } from '@langchain/langgraph-sdk';
import { expect } from 'vitest';
import { parseJsonLines, startRunyard } from '../harness/runyard-cli.ts';
import { fillServer, type MovedGraphs, readContents, waitForThreads } from './filled-server.ts';

interface Result {
  event: string;
  status?: string;
  kinds?: Record<string, Record<string, number>>;
}

export interface Move {
  graphs: MovedGraphs;
  threads: number;
  /** A public server that is filled, and an empty one of the same project. */
  from: string;
  backTo: string;
  deployment: { url: string; apiKey: string };
}

/**
 * Fills a server, imports it into a deployment with the command killed in the middle and started again, and exports
 * what was imported to an empty server: three times the same.
 */
export async function moveThereAndBack({ graphs, threads, from, backTo, deployment }: Move): Promise<void> {
  const mark = `moved-${randomUUID()}`;
  const [source, ours, back] = [
    new Client({ apiUrl: from, apiKey: null }),
    new Client({ apiUrl: deployment.url, apiKey: deployment.apiKey }),
    new Client({ apiUrl: backTo, apiKey: null }),
  ];
  await fillServer(source, graphs, mark, threads);
  const variables = { RUNYARD_API_KEY: deployment.apiKey };
  const args = ['--deployment', deployment.url, '--metadata', JSON.stringify({ mark }), '--json'];
  const start = (...direction: string[]) => startRunyard([...direction, ...args], undefined, variables);

  const killed = start('import', '--from', from);
  await waitForThreads(ours, mark, Math.ceil(Math.min(threads, 1_000) / 4));
  killed.child.kill('SIGKILL');
  await killed.ended;
  const atKill = await ours.threads.search({ metadata: { mark }, limit: 1_000, select: ['thread_id'] });
  if (threads <= 1_000) expect(atKill.length).toBeLessThan(threads);

  const imported = await start('import', '--from', from).ended;
  expect(imported.code, imported.output).toBe(0);
  const { kinds } = parseJsonLines<Result>(imported).at(-1) ?? {};
  expect(kinds).toMatchObject({
    threads: { found: threads, skipped: 0, different: 0, failed: 0 },
    assistants: { different: 0, failed: 0 },
    store: { different: 0, failed: 0 },
  });
  expect(kinds?.threads?.present).toBeGreaterThan(0);
  const contents = await readContents(source, mark);
  expect(contents.threads.size).toBe(threads);
  expect(await readContents(ours, mark)).toEqual(contents);

  await answerOne(ours, graphs, mark);
  const exported = await start('export', '--to', backTo).ended;
  expect(exported.code, exported.output).toBe(0);
  expect(await readContents(back, mark)).toEqual(await readContents(ours, mark));
}

/** A thread that waits for an answer goes on with it after it was copied. */
async function answerOne(client: Client, { asking }: MovedGraphs, mark: string): Promise<void> {
  const [thread] = await client.threads.search({ metadata: { mark, number: 0 } });
  const id = thread?.thread_id ?? '';
  expect((await client.threads.getState(id)).next).not.toEqual([]);
  await client.runs.wait(id, asking.graph, { command: { resume: 'yes' } });
  expect((await client.threads.getState(id)).next).toEqual([]);
}
