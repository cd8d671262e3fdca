import { localPath } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { requireNavigation } from './page-request.ts';

it.each(['/', '/auth/account', '/deployments/a?x=1#y', '/a//b'])('a sign-in may lead on to %s', (path) => {
  expect(localPath(path)).toBe(path);
});

it.each([
  '',
  'a',
  '//evil.example',
  '/\\evil.example',
  '/a\\b',
  'https://evil.example',
  '/\t/evil.example',
  '/ä',
  '/a b',
])('a sign-in leads nobody on to %j', (path) => {
  expect(localPath(path)).toBeUndefined();
});

const own = { host: 'runyard.example', origin: 'https://runyard.example' };
const person = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'same-origin' };

it.each([{}, own, { ...own, ...person }])('a form of the own page is accepted: %j', (headers) => {
  expect(() => requireNavigation(headers, 'post')).not.toThrow();
});

it.each([
  { ...own, origin: 'https://evil.example' },
  { ...own, origin: 'null' },
  { ...own, ...person, 'sec-fetch-site': 'same-site' },
  { ...own, ...person, 'sec-fetch-mode': 'cors' },
  { ...own, ...person, 'sec-fetch-dest': 'iframe' },
])('a form of another site, of a script or of a frame is refused: %j', (headers) => {
  expect(() => requireNavigation(headers, 'post')).toThrow('own page');
});

it('a page is opened by a link from anywhere, and read by no script', () => {
  expect(() => requireNavigation({ ...person, 'sec-fetch-site': 'cross-site' }, 'get')).not.toThrow();
  expect(() => requireNavigation({ 'sec-fetch-mode': 'same-origin', 'sec-fetch-dest': 'empty' }, 'get')).toThrow();
});
