import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { formatWelcome } from './welcome.ts';

const platform = (url: string) => ({
  url,
  apiKey: 'lsv2_sk_1',
  needsKey: false,
  consoleUrl: 'http://console.localhost:2024',
  printsMoreLinks: false,
  consoleSignInUrl: `${url}/auth/link?token=t`,
  setupUrl: `${url}/auth/setup?token=t`,
  deployment: { id: '1', name: 'probe', url: `${url}/deployments/1`, host_url: 'http://probe.localhost:2024' },
  graphs: ['agent'] as [string],
  described: [{ graph_id: 'agent' }],
  columns: undefined,
  dataDir: '/data',
  projects: 'run as your own user',
});

describe('the lines to paste', () => {
  it.each([
    ['without a key', false, undefined],
    ['with the key where one is needed', true, 'lsv2_sk_1'],
  ])('start a streamed run with curl at the root, %s', async (_, needsKey, sentKey) => {
    const requests: unknown[] = [];
    const server = createServer((req, res) => {
      let body = '';
      req
        .on('data', (chunk) => (body += chunk))
        .on('end', () => {
          requests.push([req.method, req.url, req.headers['x-api-key'], JSON.parse(body)]);
          res.end('event: end\n\n');
        });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const text = formatWelcome({ ...platform(url), needsKey });
    const command = /^curl [\s\S]*?(?=\n\n)/m.exec(text)?.[0] ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    server.close();
    expect(stdout).toBe('event: end\n\n');
    const input = { messages: [{ role: 'user', content: 'hello' }] };
    const run = { assistant_id: 'agent', input, stream_mode: ['messages-tuple'] };
    expect(requests).toEqual([['POST', '/runs/stream', sentKey, run]]);
  });

  it('come after lines about the graphs of the project, and the page that describes its API', () => {
    const text = (...graphs: [string, ...string[]]) => {
      const described = graphs.slice(0, 8).map((graph_id) => ({ graph_id }));
      return formatWelcome({ ...platform('http://127.0.0.1:7'), graphs, described });
    };
    expect(text('one', 'two')).toMatch(/^ {2}graphs +one, two$/m);
    expect(text('g', ...Array.from({ length: 20 }, () => 'h'))).toMatch(/^ {2}graphs +g(, h){7} and 13 more$/m);
    expect(text('one')).toMatch(/^ {2}docs +http:\/\/127.0.0.1:7\/docs$/m);
  });

  it('come after what each graph takes and which tools it calls, a line each, cut at the width of the terminal', () => {
    const described = [
      { graph_id: 'agent', input_keys: ['messages'], tools: ['search', 'send_email'] },
      { graph_id: 'translator', input_keys: ['text', 'language'], tools: [] },
      { graph_id: 'functions', input_keys: null, tools: null },
      { graph_id: 'late' },
    ];
    const graphs = ['agent', 'translator', 'functions', 'late', 'other'] as [string, ...string[]];
    const linesAt = (columns: number | undefined) =>
      /^ {2}graphs([\s\S]*?)^ {2}docs/m
        .exec(formatWelcome({ ...platform('http://127.0.0.1:7'), graphs, described, columns }))![1]!
        .trimEnd()
        .split('\n')
        .map((line) => line.trimStart());
    expect(linesAt(undefined)).toEqual([
      'agent       takes messages; calls search, send_email',
      'translator  takes text, language',
      'functions',
      'late',
      'and 1 more',
    ]);
    expect(linesAt(40).slice(0, 2)).toEqual(['agent       takes message…', 'translator  takes text, l…']);
    expect(linesAt(3)[0]).toBe('a…');
  });

  it('come after names of tools without characters that would steer the terminal', () => {
    const described = [{ graph_id: 'agent', tools: ['red\u001b[31m', 'two\nlines'] }];
    expect(formatWelcome({ ...platform('http://127.0.0.1:7'), described })).toMatch(
      /^ {2}graphs +agent {2}calls red \[31m, two lines$/m,
    );
  });

  it('come after a line that reports whose rights the code of projects has', () => {
    expect(formatWelcome(platform('http://127.0.0.1:7'))).toMatch(/^ {2}projects +run as your own user$/m);
  });

  it('come after a line about people: the link of the first administrator, and later where they sign in', () => {
    const first = platform('http://127.0.0.1:7');
    expect(formatWelcome(first)).toMatch(/^ {2}people +http:\/\/127.0.0.1:7\/auth\/setup\?token=t /m);
    expect(formatWelcome({ ...first, setupUrl: null })).toMatch(
      /^ {2}people +sign in at http:\/\/127.0.0.1:7\/login$/m,
    );
  });

  it('come after lines with the address of the console, and the link that signs in there once', () => {
    const text = formatWelcome(platform('http://127.0.0.1:7'));
    expect(text).toMatch(
      /^ {2}console +http:\/\/console\.localhost:2024\n {2}sign in +http:\/\/127.0.0.1:7\/auth\/link\?token=t {2}\(once\)$/m,
    );
  });

  it('come after a line of their own with the URL of the platform', () => {
    expect(formatWelcome(platform('http://127.0.0.1:7')).split('\n')).toContain('Runyard is ready: http://127.0.0.1:7');
  });
});
