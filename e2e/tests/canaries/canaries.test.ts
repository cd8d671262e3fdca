import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { Caller, startEchoServer } from './caller.ts';
import { Canaries } from './canaries.ts';
import { placeFaultyBodies, placeKeys } from './place-in-requests.ts';
import { deployBlurter, placeInRuns } from './place-in-runs.ts';
import { placeSecretsOfGit, placeSecretsOfOAuth, placeSecretsOfSources } from './place-with-others.ts';
import { placeSecretsOfPeople, placeSecretsOfProviders, placeSecretsOfWorkspaces } from './place-with-people.ts';
import { type PlatformRecord, platformSecrets, waitForPlatformRecords, waitForSpans } from './platform-records.ts';

const { dataDir, collectorUrl } = inject('platform');
const caller = new Caller();
const { canaries } = caller;
let server: Awaited<ReturnType<typeof startEchoServer>>;
beforeAll(async () => {
  server = await startEchoServer();
});
afterAll(async () => {
  for (const id of caller.deployments) await caller.ask('DELETE', `/v2/deployments/${id}`);
  server.close();
});

async function placeElsewhere(): Promise<void> {
  await placeKeys(caller);
  await placeFaultyBodies(caller);
  await placeSecretsOfGit(caller, server.url);
  await placeSecretsOfOAuth(caller, server.url);
  await placeSecretsOfSources(caller);
  await placeSecretsOfPeople(caller);
  await placeSecretsOfProviders(caller);
  await placeSecretsOfWorkspaces(caller);
}

/** Events of runs have the metadata and errors of these. */
const hasRuns = (name: string) => name.startsWith('kafka/runyard.runs-');

const says = (records: PlatformRecord[], kind: PlatformRecord['kind'], name: string, text: string) =>
  records.some((record) => record.kind === kind && record.name.includes(name) && record.bytes.includes(text));

it('a secret is in no log, topic, error, table, trace or Redis, however it travels and whatever fails with it', async () => {
  for (const [name, value] of await platformSecrets(dataDir)) canaries.add(`the platform’s own ${name}`, value);
  const [deployment] = await Promise.all([deployBlurter(caller), placeElsewhere()]);
  const threadId = await placeInRuns(caller, deployment, server.url);
  const last = `/the-end-of-${deployment.id}`;
  await caller.ask('GET', last);

  // The last records must be there, and allowed content must be found: so the search would find secrets.
  const content = canaries.all.find(({ place }) => place === 'content')!;
  const missing = (records: PlatformRecord[]) =>
    Object.entries({
      'the last request': says(records, 'log', 'logs/platform-services', last),
      'what a service says at level debug': says(records, 'log', 'logs/platform-services', ' debug control-plane: '),
      'the masked line of a crash': says(records, 'log', deployment.id, 'crashed with ***'),
      'a run’s event': says(records, 'topic', '', threadId),
      'a run’s keys in Redis': says(records, 'redis', '', threadId),
      'content in a table': says(records, 'table', '', content.value),
    }).flatMap(([what, isThere]) => (isThere ? [] : [what]));
  const records = await waitForPlatformRecords(dataDir, (read) => missing(read).length === 0);
  expect(missing(records)).toEqual([]);
  const inSpans = ['invoke_agent', threadId, 'POST /v2/deployments'];
  const spans = await waitForSpans(collectorUrl, caller.traceId, inSpans);
  expect(inSpans.filter((text) => !spans.includes(text))).toEqual([]);

  const leaks = [
    ...canaries.findIn('a trace', Buffer.from(spans)),
    ...caller.errors.flatMap(({ request, text }) => canaries.findIn(request, Buffer.from(text))),
    ...records.flatMap(({ name, kind, bytes }) =>
      canaries.findIn(name, bytes, { holdsContent: kind === 'table' || kind === 'redis' || hasRuns(name) }),
    ),
  ];
  expect(leaks).toEqual([]);
  expect(canaries.all.length).toBeGreaterThan(150);
  expect(server.requests()).toBeGreaterThan(5);
});

it.each(['', 'x', 'xy', 'xyz'])(
  'a secret is found after “%s”, as it is, in a URL, in hexadecimal digits and in base64',
  (before) => {
    const own = new Canaries();
    const text = Buffer.from(`${before}${own.make('text')}?>~`);
    const escaped = new Canaries();
    const record = Buffer.from(`GET /x?${new URLSearchParams({ x: before + escaped.add('text', 'a+b/c=d.e') })}`);
    expect(escaped.findIn('a record', record)).toMatchObject([{ place: 'text' }]);
    for (const encoding of ['utf8', 'hex', 'base64', 'base64url'] as const) {
      expect(own.findIn('a record', Buffer.from(`{"${text.toString(encoding)}"}`))).toMatchObject([{ place: 'text' }]);
    }
  },
);
