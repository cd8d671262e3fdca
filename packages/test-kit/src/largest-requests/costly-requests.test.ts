import { lookUpSsoEmail, receiveSamlResponse } from '@runyard/contracts';
import { afterEach, expect, it } from 'vitest';
import { type FakeServer, readRequestBody, startFakeServer } from '../fake-platform.ts';
import { findCostlyRequests } from './costly-requests.ts';

let server: FakeServer;
afterEach(() => server.close());

/** Serves an operation, and says how much processor time this process took. */
const serve = (answer: (body: string) => number) =>
  startFakeServer(async (req, res) => {
    const body = (await readRequestBody(req)).toString();
    if (req.url !== '/metrics') return res.writeHead(answer(body)).end();
    const { user, system } = process.cpuUsage();
    return res.end(`process_cpu_seconds_total ${(user + system) / 1e6}\n`);
  });

it('a request is found for which a service takes the square of its text', async () => {
  server = await serve((form) => {
    const xml = Buffer.from(new URLSearchParams(form).get('SAMLResponse') ?? '', 'base64').toString();
    return /<Issuer\b[^>]*>/.test(xml.slice(0, 50_000)) ? 303 : 400;
  });
  const found = await findCostlyRequests({ url: server.url, operations: [receiveSamlResponse], boundMs: 150 });
  expect(found.join()).toMatch(/receiveSamlResponse, texts of base64 of <Issuer .*: \d+ ms/);
});

it('a request is found that fails in a service', async () => {
  server = await serve((body) => (body.includes('\\u0000') ? 500 : 200));
  const found = await findCostlyRequests({ url: server.url, operations: [lookUpSsoEmail], boundMs: 10_000 });
  expect(found.join()).toMatch(/lookUpSsoEmail, texts of "\\u0000".*: 500/);
});
