import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { digestOf } from '@runyard/test-kit';
import { readRequestBody, startFakeServer } from '@runyard/test-kit/fake-platform';
import { expect, it, onTestFinished } from 'vitest';
import { ImageRepository } from './image-repository.ts';

const MEBIBYTE = 1024 * 1024;

it('a large blob is pushed in requests of some megabytes each, one after the other', async () => {
  const pieces: { range: string | undefined; bytes: Buffer }[] = [];
  let finished: string | undefined;
  const registry = await startFakeServer(async (req, res) => {
    const bytes = await readRequestBody(req);
    if (req.method === 'PATCH') pieces.push({ range: req.headers['content-range'], bytes });
    if (req.method === 'PUT') finished = new URL(req.url!, 'http://registry').searchParams.get('digest')!;
    // The registry may lead to another place after each piece.
    res.writeHead(req.method === 'PUT' ? 201 : 202, { location: `/uploads/${pieces.length}` }).end();
  });
  onTestFinished(() => registry.close());
  const place = { deploymentId: randomUUID(), name: 'agent' };
  const repository = new ImageRepository({ url: registry.url, place, token: 'a token' });
  const chunks = Array.from({ length: 40 }, (_, number) => Buffer.alloc(MEBIBYTE, number));

  const pushed = await repository.push(Readable.from(chunks), { signal: new AbortController().signal });

  const whole = Buffer.concat(chunks);
  expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).equals(whole)).toBe(true);
  expect(pieces.map(({ range }) => range)).toEqual([
    `0-${16 * MEBIBYTE - 1}`,
    `${16 * MEBIBYTE}-${32 * MEBIBYTE - 1}`,
    `${32 * MEBIBYTE}-${40 * MEBIBYTE - 1}`,
  ]);
  expect([pushed, finished]).toEqual([{ digest: digestOf(whole), size: whole.length }, digestOf(whole)]);
});
