import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunningRevision } from '../drivers/driver.ts';
import { ActiveRevision } from './active-revision.ts';

let server: Server;
let url: string;
let routes: string[][];
let prefixes: unknown[];
let serving: ActiveRevision;

beforeEach(async () => {
  server = createServer((_req, res) => res.setHeader('x-runyard-mount-prefix', '/agents').end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  routes = [];
  prefixes = [];
  serving = new ActiveRevision({
    deploymentId: 'deployment',
    store: {
      setUpstreams: async (_id, upstreams) => void routes.push(upstreams),
      setMountPrefix: async (_id, ...what) => void prefixes.push(what),
    },
    onDrained: async () => undefined,
    logger: silentLogger,
  });
});
afterEach(async () => {
  await serving.stop(0);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function revisionAt(...upstreams: string[]): RunningRevision & { upstreams: string[] } {
  const [drain, stop] = [async () => undefined, async () => undefined];
  return { revisionId: 'revision', upstreams, drain, stop } as unknown as RunningRevision & { upstreams: string[] };
}

it('a revision without an answering server is asked again when its servers change, until one has answered', async () => {
  const revision = revisionAt('http://127.0.0.1:1');
  await serving.replaceWith(revision);
  await waitFor(() => routes.length === 1);
  expect(prefixes).toEqual([]);
  revision.upstreams = [url];
  serving.updateRoute('revision');
  await waitFor(() => prefixes.length === 1);
  serving.updateRoute('revision');
  await waitFor(() => routes.length === 3);
  await serving.stop(0);
  expect(prefixes).toEqual([['revision', '/agents']]);
});

it('a revision whose prefix was stored at its activation is not asked for it', async () => {
  let questions = 0;
  server.prependListener('request', () => {
    questions += 1;
  });
  await serving.replaceWith(revisionAt(url), { isMountPrefixStored: true });
  serving.updateRoute('revision');
  await serving.stop(0);
  expect({ questions, prefixes }).toEqual({ questions: 0, prefixes: [] });
});

it('a server that does not answer delays neither the route nor the stop', async () => {
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  server.removeAllListeners('request').on('request', () => asked());
  await serving.replaceWith(revisionAt(url));
  await isAsked;
  expect(routes).toEqual([[url]]);
  await serving.stop(0);
  expect(routes).toEqual([[url], []]);
});
