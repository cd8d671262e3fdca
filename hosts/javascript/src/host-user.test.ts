import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { hostUserOf, openLoopback, SocketFolder } from '@runyard/host-client';
import { expect, it } from 'vitest';
import { fixtures, startHost } from '../test/host-under-test.ts';

const isRoot = process.geteuid?.() === 0;

it('GRAPH_HOST_USER is refused where the service does not run as root', () => {
  expect(() => hostUserOf('20000:20000', 1000)).toThrow('GRAPH_HOST_USER can only be set');
  expect(hostUserOf(undefined)).toBeUndefined();
});

it.runIf(isRoot).each(['0:100', '100:0'])('GRAPH_HOST_USER is refused when it names root (%s)', (setting) => {
  expect(() => hostUserOf(setting)).toThrow('other than root');
});

it.runIf(isRoot)(
  'a host of another user serves its app, reaches its own server, and has a home of its own',
  async () => {
    const user = { uid: 20_000, gid: 20_001 };
    const folder = await SocketFolder.open(user);
    const loopback = await openLoopback(folder, (_req, res) => void res.writeHead(201).end('built in'));
    const environment = folder.withHome({ HOME: '/root' });
    const host = await startHost('basic', { user, loopback, environment });
    try {
      expect(await readFile(`/proc/${host.pid}/status`, 'utf8')).toMatch(
        /^Uid:\t20000\t20000\t20000\t20000\nGid:\t20001\t20001/m,
      );
      expect(await readFile(`/proc/${host.pid}/status`, 'utf8')).toMatch(/^Groups:\t *$/m);
      const home = await stat(environment.HOME!);
      expect([home.uid, home.mode & 0o777]).toEqual([20_000, 0o700]);
      // A folder shared by all users would keep its files, and others could replace them.
      expect(environment.TMPDIR).toBe(environment.HOME);
      const path = folder.pathForHost();
      await host.serveApp({ file: `${fixtures}basic/http-app.ts`, symbol: 'app' }, path);
      const socketPath = await folder.takeFromHost(path);
      const sent = request({
        socketPath,
        path: '/assistants/search',
        headers: { host: 'example.com', 'x-runyard-exchange': 'e' },
      });
      const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
      expect([response.statusCode, await text(response)]).toEqual([201, 'built in']);
    } finally {
      await host.close();
      await loopback.close();
      await folder.remove();
    }
  },
);
