import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { UnavailableError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { answerError } from './error-answer.ts';

/** Returns the levels of the lines that are logged when a request gets an error. */
async function levelsOf(error: Error): Promise<string[]> {
  const levels: string[] = [];
  const log = new Proxy({} as Logger, { get: (_, level) => () => void levels.push(String(level)) });
  const server = createServer((req, res) => answerError(req, res, error, log));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { status } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(status).toBe(503);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return levels;
}

it('requests that are refused under overload are counted, and do not fill the log', async () => {
  expect(await levelsOf(new UnavailableError('full', { refusal: 'arrival_delay' }))).toEqual(['http']);
});

it('an unavailable dependency is logged with its cause', async () => {
  const cause = new Error('connection refused');
  expect(await levelsOf(new UnavailableError('away', { refusal: 'database', cause }))).toEqual(['warn']);
  expect(await levelsOf(new UnavailableError('away'))).toEqual(['warn']);
});
