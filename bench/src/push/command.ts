import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { percentile } from '@runyard/test-kit';
import { readNumber } from '../number-flags.ts';
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

interface Layer {
  megabytes: number;
  /** Megabytes that each client sends in a second at most. */
  rate: number;
}

interface Round {
  quiet: Times[];
  pushing: Times[];
  megabytesPerSecond: number;
}

/** Names of what is asked: the bytes of a push go through the gateway, and not through control-plane. */
const ASKED = ['through the gateway', 'at control-plane'];
const CHUNK = randomBytes(1024 * 1024);
/** Milliseconds between two requests: control-plane is not what limits them. */
const PAUSE_MS = 20;

/**
 * Runs `npm run bench -- push`: prints how long requests to control-plane take while nothing else happens, and while
 * layers of images are pushed.
 */
export async function runPushCommand(
  args: string[],
  { repository, project, say }: { repository: string; project: string; say: (line: string) => void },
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      mb: { type: 'string', default: '1024' },
      clients: { type: 'string', default: '1' },
      rate: { type: 'string', default: '100000' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '10' },
      json: { type: 'string' },
    },
  });
  const megabytes = readNumber('mb', values.mb);
  const clients = readNumber('clients', values.clients);
  const rate = readNumber('rate', values.rate);
  const rounds = readNumber('rounds', values.rounds);
  const quietSeconds = readNumber('seconds', values.seconds);
  const dataDir = await mkdtemp(join(tmpdir(), 'runyard-bench-'));
  const platform = await startPlatform({ repository, project, dataDir });
  try {
    const { edge } = platform;
    const asked: Endpoint[] = [
      { ...edge, url: `${edge.url}/v2/deployments` },
      { url: `${await findControlPlane(dataDir)}/ok?check_db=1`, headers: {} },
    ];
    say(`the platform is up at ${edge.url}`);
    hashOf(megabytes);
    await measureRequests(asked, pause(quietSeconds * 1000));
    const found: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const quiet = await measureRequests(asked, pause(quietSeconds * 1000));
      const begun = performance.now();
      const pushes = Array.from({ length: clients }, (_, index) =>
        pushLayer(edge, { megabytes, rate }, `${round}-${index}`),
      );
      const pushing = await measureRequests(asked, Promise.all(pushes));
      const megabytesPerSecond = (clients * megabytes) / ((performance.now() - begun) / 1000);
      found.push({ quiet, pushing, megabytesPerSecond });
    }
    await writeJson(values.json, { megabytes, clients, rate, rounds: found });
    process.stdout.write(`\n${formatTable(found)}\n`);
  } finally {
    await platform.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Finds the address of control-plane itself, which no client knows, in its log. */
async function findControlPlane(dataDir: string): Promise<string> {
  const log = await readFile(join(dataDir, 'logs/control-plane.log'), 'utf8');
  const url = /listening \{"url":"([^"]+)"/.exec(log)?.[1];
  if (url === undefined) throw new Error('control-plane does not say where it listens');
  return url;
}

/** Asks each of them again and again, in turns, until the work is done. */
async function measureRequests(asked: Endpoint[], work: Promise<unknown>): Promise<Times[]> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const took: number[][] = asked.map(() => []);
  while (!isDone) {
    for (const [index, { url, headers }] of asked.entries()) {
      const begun = performance.now();
      const answer = await fetch(url, { headers });
      if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
      await answer.arrayBuffer();
      took[index]!.push(performance.now() - begun);
    }
    await pause(PAUSE_MS);
  }
  await done;
  return took.map((each) => ({
    requests: each.length,
    p50: percentile(each, 0.5),
    p95: percentile(each, 0.95),
    max: Math.max(...each),
  }));
}

/** Pushes a layer to a new deployment, as image tools do: in one piece, whose digest is known before. */
async function pushLayer({ url, headers }: Endpoint, layer: Layer, name: string): Promise<void> {
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
    const answer = await fetch(url + path, { ...init, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
  const source = { source: 'internal_docker', source_config: {}, source_revision_config: {} };
  const { id } = await post('/v2/deployments', { name: `push-${name}-${CHUNK.toString('hex', 0, 4)}`, ...source });
  const { token } = await post(`/v2/deployments/${id}/push-token`, {});
  const authorization = `Bearer ${token}`;
  const begun = await fetch(`${url}/v2/registry/${id}/agent/blobs/uploads/`, {
    method: 'POST',
    headers: { authorization },
  });
  const path = new URL(begun.headers.get('location')!, url).pathname;
  await sendBytes(new URL(path, url), authorization, layer);
  const digest = `sha256:${hashOf(layer.megabytes)}`;
  const end = await fetch(`${url}${path}?digest=${digest}`, { method: 'PUT', headers: { authorization } });
  if (end.status !== 201) throw new Error(`the layer was refused: ${await end.text()}`);
}

async function sendBytes(url: URL, authorization: string, { megabytes, rate }: Layer): Promise<void> {
  const headers = { authorization, 'content-length': megabytes * CHUNK.length };
  const sent = request(url, { method: 'PATCH', headers });
  const answered = new Promise<number>((resolve, reject) => {
    sent.on('error', reject).on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    });
  });
  await pipeline(Readable.from(paceChunks(megabytes, rate)), sent);
  const status = await answered;
  if (status !== 202) throw new Error(`the layer was refused: ${status}`);
}

/** Yields a megabyte at a time, not faster than this many in a second. */
async function* paceChunks(megabytes: number, rate: number): AsyncGenerator<Buffer> {
  const begun = performance.now();
  let count = 0;
  for (const chunk of repeatChunk(megabytes)) {
    const early = begun + (count / rate) * 1000 - performance.now();
    if (early > 1) await pause(early);
    count += 1;
    yield chunk;
  }
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

function formatTable(found: Round[]): string {
  const columns = (texts: string[]) => texts.map((text) => text.padStart(10)).join('');
  const lines = (name: string, times: Times[], rate: string) =>
    times.map(({ requests, p50, p95, max }, index) => {
      const numbers = [String(requests), ...[p50, p95, max].map((ms) => ms.toFixed(1)), rate];
      return `${`${name}, ${ASKED[index]}`.padEnd(32)}${columns(numbers)}`;
    });
  return [
    `${''.padEnd(32)}${columns(['requests', 'p50 ms', 'p95 ms', 'max ms', 'MB/s'])}`,
    ...found.flatMap(({ quiet, pushing, megabytesPerSecond }) => [
      ...lines('quiet', quiet, ''),
      ...lines('pushing', pushing, megabytesPerSecond.toFixed(0)),
    ]),
  ].join('\n');
}
