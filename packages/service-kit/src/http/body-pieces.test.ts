import { expect, it } from 'vitest';
import { BodyPieces } from './body-pieces.ts';

it.each([
  ['byte by byte', [1]],
  ['in pieces of which few are large', [...Array(255).fill(1), 4096]],
  ['in large pieces', [65_536]],
])('a body that comes %s is held in few objects for its bytes, and is what was sent', (_how, lengths: number[]) => {
  const pieces = new BodyPieces();
  const sent: Buffer[] = [];
  for (let index = 0; index < 20_000 && index * lengths[index % lengths.length]! < 5e7; index++) {
    const piece = Buffer.alloc(lengths[index % lengths.length]!, index % 251);
    sent.push(piece);
    pieces.add(piece);
  }
  const whole = Buffer.concat(sent);
  expect(pieces.count).toBeLessThan(256 + whole.length / 256);
  expect(pieces.join().equals(whole)).toBe(true);
});
