import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench/bench.ts';
import type { Goal } from '../bench/goal.ts';
import type { BenchPlatform } from '../bench/platform.ts';

const KEYS = '/api/v1/orgs/current/service-keys';
const LIMIT_SECONDS = 5;
/** Milliseconds between two requests with a revoked key. */
const LOOK_MS = 50;

export const goal: Goal = {
  id: 'RK',
  title: 'A revoked key is refused everywhere within five seconds, and its open streams are cut.',
  async run(bench) {
    const platform = await bench.platform();
    const needed = bench.size({ fast: 5, full: 50 });
    const cut: number[] = [];
    const refused: number[] = [];
    for (let each = 0; each < needed; each += 1) {
      const seconds = await revokeKey(bench, platform);
      cut.push(seconds.cut);
      refused.push(seconds.refused);
    }
    for (const [what, seconds] of Object.entries({
      'revoked → its stream cut, max': cut,
      'revoked → refused, max': refused,
    }))
      bench.measure({ what, measured: Math.max(...seconds), limit: LIMIT_SECONDS, unit: 's', samples: seconds.length });
  },
};

/** Uses a key, revokes it at a random moment, and returns the seconds until it was of no use any more. */
async function revokeKey(bench: Bench, { url, deploymentUrl, headers }: BenchPlatform) {
  const send = (method: string, path: string, by: Record<string, string>) =>
    fetch(path, {
      method,
      headers: { ...by, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: '{}' }),
    });
  const created = await send('POST', url + KEYS, headers);
  const { id, key } = (await created.json()) as { id: string; key: string };
  const own = { 'x-api-key': key };
  const { thread_id } = (await (await send('POST', `${deploymentUrl}/threads`, own)).json()) as { thread_id: string };
  const stream = await send('GET', `${deploymentUrl}/threads/${thread_id}/stream`, own);
  if (stream.status !== 200) throw new Error(`the stream was not opened: ${stream.status}`);
  const end = stream.text().then(
    () => performance.now(),
    () => performance.now(),
  );
  await pause(bench.random.integer(0, 4_000));
  const revoked = await send('DELETE', `${url}${KEYS}/${id}`, headers);
  if (!revoked.ok) throw new Error(`the key was not revoked: ${revoked.status}`);
  const since = performance.now();
  // A request that is under way at that moment is cut as the stream is.
  const look = () => send('GET', `${deploymentUrl}/threads/${thread_id}`, own).catch(() => undefined);
  while ((await look())?.status !== 401) await pause(LOOK_MS);
  const refused = (performance.now() - since) / 1000;
  return { cut: ((await end) - since) / 1000, refused };
}
