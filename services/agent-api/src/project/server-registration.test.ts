import { hostname, networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { reachableUrl } from './server-registration.ts';

it('a server that listens on all addresses is announced at one that others reach without knowing its name', () => {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outer = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? hostname();
  expect(reachableUrl('http://0.0.0.0:8000', undefined)).toBe(`http://${outer}:8000`);
  expect(reachableUrl('http://[::]:8000', undefined)).toBe(`http://${outer}:8000`);
  expect(reachableUrl('http://127.0.0.1:8123', undefined)).toBe('http://127.0.0.1:8123');
  expect(reachableUrl('http://0.0.0.0:8000', 'https://agents.example.com/')).toBe('https://agents.example.com');
});
