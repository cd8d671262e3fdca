import { expect, it } from 'vitest';
import { pathFilter } from './path-filter.ts';

it('the path filter passes what a pattern may match, and skips the rest', () => {
  const concerns = pathFilter(['/custom/:id{[0-9]+}', '/files/*', '/exact', '/animals/:kind?']);
  for (const path of ['/custom/1', '/custom', '/files/a/b', '/files', '/exact', '/exact/', '/animals', '/%65xact']) {
    expect([path, concerns(path)]).toEqual([path, true]);
  }
  for (const path of ['/', '/threads', '/runs/stream', '/custo']) expect([path, concerns(path)]).toEqual([path, false]);
});

it('the path filter passes everything when middleware sees everything', () => {
  expect(pathFilter(['/*', '/exact'])('/threads')).toBe(true);
  expect(pathFilter(['*'])('/threads')).toBe(true);
  expect(pathFilter(['/:any'])('/threads')).toBe(true);
});

it('the path filter passes nothing when the app has no routes', () => {
  expect(pathFilter([])('/threads')).toBe(false);
});
