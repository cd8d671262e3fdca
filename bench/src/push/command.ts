import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { percentile } from '@runyard/test-kit';
import { writeJson } from '../report/write-json.ts';
import { startPlatform } from '../targets/platform.ts';

interface Endpoint {
  url: string;
  headers: Record<string, string>;
}

/** Milliseconds that requests took. */
interface Times {
  requests: number;
  p50: number;
  p95: number;
  max: number;
}

const CHUNK = randomBytes(1024 * 1024);
/** Milliseconds between two requests: control-plane is not what limits them. */
const PAUSE_MS = 20;

/**
 * Runs `npm run bench -- push`: prints how long requests to control-plane take while nothing else happens, and while a
 * layer of an image is pushed.
 */
export async function runPushCommand(
  args: string[],
  { repository, project, say }: { repository: string; project: string; say: (line: string) => void },
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      mb: { type: 'string', default: '1024' },
      rounds: { type: 'string', default: '3' },
      quiet: { type: 'string', default: '10' },
      json: { type: 'string' },
    },
  });
  const [megabytes, rounds, quietSeconds] = [Number(values.mb), Number(values.rounds), Number(values.quiet)];
  if (![megabytes, rounds, quietSeconds].every((number) => number > 0))
    throw new Error('--mb, --rounds and --quiet take numbers above 0.');
  const platform = await startPlatform({ repository, project });
  try {
    const [edge] = platform.observed as [Endpoint];
    say(`the platform is up at ${edge.url}`);
    hashOf(megabytes);
    await measureRequests(edge, pause(quietSeconds * 1000));
    const found: { quiet: Times; pushing: Times; megabytesPerSecond: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const quiet = await measureRequests(edge, pause(quietSeconds * 1000));
      const begun = performance.now();
      const pushing = await measureRequests(edge, pushLayer(edge, megabytes, round));
      const megabytesPerSecond = megabytes / ((performance.now() - begun) / 1000);
      found.push({ quiet, pushing, megabytesPerSecond });
    }
    await writeJson(values.json, { megabytes, rounds: found });
    process.stdout.write(`\n${formatTable(found)}\n`);
  } finally {
    await platform.stop();
  }
}

/** Lists deployments again and again until the work is done. */
async function measureRequests({ url, headers }: Endpoint, work: Promise<unknown>): Promise<Times> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const took: number[] = [];
  while (!isDone) {
    const begun = performance.now();
    const answer = await fetch(`${url}/v2/deployments`, { headers });
    if (!answer.ok) throw new Error(`control-plane answers ${answer.status}`);
    await answer.arrayBuffer();
    took.push(performance.now() - begun);
    await pause(PAUSE_MS);
  }
  await done;
  return {
    requests: took.length,
    p50: percentile(took, 0.5),
    p95: percentile(took, 0.95),
    max: Math.max(...took),
  };
}

/** Pushes a layer to a new deployment, as image tools do: in one piece, whose digest is known before. */
async function pushLayer({ url, headers }: Endpoint, megabytes: number, round: number): Promise<void> {
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
    const answer = await fetch(url + path, { ...init, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
  const source = { source: 'internal_docker', source_config: {}, source_revision_config: {} };
  const { id } = await post('/v2/deployments', { name: `push-${round}-${CHUNK.toString('hex', 0, 4)}`, ...source });
  const { token } = await post(`/v2/deployments/${id}/push-token`, {});
  const authorization = `Bearer ${token}`;
  const begun = await fetch(`${url}/v2/registry/${id}/agent/blobs/uploads/`, {
    method: 'POST',
    headers: { authorization },
  });
  const path = new URL(begun.headers.get('location')!, url).pathname;
  await sendBytes(new URL(path, url), authorization, megabytes);
  const digest = `sha256:${hashOf(megabytes)}`;
  const end = await fetch(`${url}${path}?digest=${digest}`, { method: 'PUT', headers: { authorization } });
  if (end.status !== 201) throw new Error(`the layer was refused: ${await end.text()}`);
}

async function sendBytes(url: URL, authorization: string, megabytes: number): Promise<void> {
  const headers = { authorization, 'content-length': megabytes * CHUNK.length };
  const sent = request(url, { method: 'PATCH', headers });
  const answered = new Promise<number>((resolve, reject) => {
    sent.on('error', reject).on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    });
  });
  await pipeline(Readable.from(repeatChunk(megabytes)), sent);
  const status = await answered;
  if (status !== 202) throw new Error(`the layer was refused: ${status}`);
}

function* repeatChunk(times: number): Generator<Buffer> {
  for (let count = 0; count < times; count += 1) yield CHUNK;
}

const hashes = new Map<number, string>();
/** Hashes a layer once: the digest must not take the time of what is measured. */
function hashOf(megabytes: number): string {
  const known = hashes.get(megabytes);
  if (known !== undefined) return known;
  const hash = createHash('sha256');
  for (const chunk of repeatChunk(megabytes)) hash.update(chunk);
  const digest = hash.digest('hex');
  hashes.set(megabytes, digest);
  return digest;
}

function formatTable(found: { quiet: Times; pushing: Times; megabytesPerSecond: number }[]): string {
  const line = (name: string, { requests, p50, p95, max }: Times, rest = '') =>
    `${name.padEnd(10)}${String(requests).padStart(10)}${[p50, p95, max].map((ms) => ms.toFixed(1).padStart(10)).join('')}${rest}`;
  return [
    `${''.padEnd(10)}${['requests', 'p50 ms', 'p95 ms', 'max ms', 'MB/s'].map((title) => title.padStart(10)).join('')}`,
    ...found.flatMap(({ quiet, pushing, megabytesPerSecond }) => [
      line('quiet', quiet),
      line('pushing', pushing, megabytesPerSecond.toFixed(0).padStart(10)),
    ]),
  ].join('\n');
}
