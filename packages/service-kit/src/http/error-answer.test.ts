import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ErrorCode } from '@runyard/contracts';
import { expect, it } from 'vitest';
import { ConflictError, UnavailableError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { answerError } from './error-answer.ts';

/** Returns the answer to a request that fails, the lines that are logged, and the codes that are counted. */
async function answerTo(error: Error) {
  const lines: { level: string; fields: Record<string, unknown> }[] = [];
  const counted: ErrorCode[] = [];
  const log = new Proxy({} as Logger, {
    get: (_, level) => (_message: string, fields: Record<string, unknown>) =>
      void lines.push({ level: String(level), fields }),
  });
  const errors = { count: (code: ErrorCode) => void counted.push(code) };
  const server = createServer((req, res) => void answerError(req, res, error, { log, errors }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const body = await answer.text();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return { status: answer.status, body, lines, counted };
}

async function levelsOf(error: Error): Promise<string[]> {
  const { status, lines } = await answerTo(error);
  expect(status).toBe(503);
  return lines.map(({ level }) => level);
}

it('the code of an error is logged and counted, and not sent', async () => {
  const { body, lines, counted } = await answerTo(new ConflictError('busy', { code: 'thread_busy' }));
  expect(body).toBe('{"detail":"busy"}');
  expect(lines).toMatchObject([{ level: 'http', fields: { status: 409, code: 'thread_busy' } }]);
  expect(counted).toEqual(['thread_busy']);
});

it('an error that nobody has foreseen is logged and counted as one', async () => {
  const { status, body, lines, counted } = await answerTo(new Error('no such column'));
  expect({ status, body }).toEqual({ status: 500, body: '{"detail":"Internal Server Error"}' });
  expect(lines).toMatchObject([{ level: 'error', fields: { code: 'internal_error' } }]);
  expect(counted).toEqual(['internal_error']);
});

it('requests that are refused under overload are counted, and do not fill the log', async () => {
  expect(await levelsOf(new UnavailableError('full', { code: 'arrival_delay_exceeded' }))).toEqual(['http']);
});

it('an unavailable dependency is logged with its cause', async () => {
  const cause = new Error('connection refused');
  expect(await levelsOf(new UnavailableError('away', { code: 'database_unavailable', cause }))).toEqual(['warn']);
  expect(await levelsOf(new UnavailableError('away', { code: 'service_not_ready' }))).toEqual(['warn']);
});
