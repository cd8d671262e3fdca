import { expect, it } from 'vitest';
import { isMountPrefix } from './mount-prefix.ts';

it.each(['/agents', '/a/b', '/v1.0/~me', '/...', '/.hidden', '/ok'])('%s is a mount prefix', (path) => {
  expect(isMountPrefix(path)).toBe(true);
});

it.each([
  '',
  '/',
  'agents',
  '/agents/',
  '//agents',
  '/a//b',
  '/..',
  '/a/../b',
  '/./a',
  '/a/.',
  '/a%2fb',
  '/%2e%2e',
  '/a\\b',
  '/a b',
  '/a?b',
  '/a#b',
  '/a\nb',
  '/a\n',
  '/ü',
  `/${'a'.repeat(600)}`,
])('%j is no mount prefix with keyless paths', (path) => {
  expect(isMountPrefix(path)).toBe(false);
});
