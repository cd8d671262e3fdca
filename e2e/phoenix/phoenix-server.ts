import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { waitFor } from '@runyard/test-kit';
import { preparePython } from '@runyard/test-kit/python';

const REQUIREMENTS = path.join(import.meta.dirname, 'requirements.txt');

/** A span as Phoenix's REST API shows it. */
export interface PhoenixSpan {
  name: string;
  context: { trace_id: string; span_id: string };
  /** Null for the first of a trace. */
  parent_id: string | null;
  /** The kind that Phoenix takes it for: `LLM`, `TOOL`, `AGENT`, `CHAIN`, or `UNKNOWN`. */
  span_kind: string;
  attributes: Record<string, unknown>;
}

/** Arize Phoenix as its package from PyPI starts it, with a database of its own. */
export interface PhoenixServer {
  /** The base URL, also for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  /** Returns the spans of a trace that are stored. */
  spansOf(traceId: string): Promise<PhoenixSpan[]>;
  stop(): Promise<void>;
}

export async function startPhoenix(): Promise<PhoenixServer> {
  const python = await preparePython(REQUIREMENTS);
  const folder = await mkdtemp(path.join(tmpdir(), 'runyard-phoenix-'));
  const [port, grpcPort] = [await freePort(), await freePort()];
  const child = spawn(python, ['-m', 'phoenix.server.main', 'serve'], {
    env: {
      ...process.env,
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: String(grpcPort),
      PHOENIX_WORKING_DIR: folder,
      PHOENIX_TELEMETRY_ENABLED: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'exit').then(() => {
    throw new Error(`Phoenix ended\n${output}`);
  });
  ended.catch(() => undefined);
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await Promise.race([ended, waitFor(isReady, { what: 'Phoenix to answer' })]);
  return {
    url,
    async spansOf(traceId) {
      const response = await fetch(`${url}/v1/projects/default/spans?trace_id=${traceId}&limit=1000`);
      // The project comes with its first span.
      if (response.status === 404) return [];
      const { data } = (await response.json()) as { data: PhoenixSpan[] };
      return data.filter(({ context }) => context.trace_id === traceId);
    },
    async stop() {
      const exited = ended.catch(() => undefined);
      child.kill();
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
