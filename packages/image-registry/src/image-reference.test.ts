import { expect, it } from 'vitest';
import { originOf, parseImageReference } from './image-reference.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const SHA512 = `sha512:${'a'.repeat(128)}`;

it.each([
  ['registry.example.com/runyard/agent-server:20', 'https://registry.example.com', 'runyard/agent-server', '20'],
  ['registry.example.com:5000/agent-server', 'https://registry.example.com:5000', 'agent-server', 'latest'],
  [`registry.example.com/a/b/c:20@${DIGEST}`, 'https://registry.example.com', 'a/b/c', DIGEST],
  [`registry.example.com/a@${SHA512}`, 'https://registry.example.com', 'a', SHA512],
  ['runyard/agent-server:20', 'https://registry-1.docker.io', 'runyard/agent-server', '20'],
  ['node', 'https://registry-1.docker.io', 'library/node', 'latest'],
  ['docker.io/node:20', 'https://registry-1.docker.io', 'library/node', '20'],
  ['localhost:5000/agent-server:20', 'http://localhost:5000', 'agent-server', '20'],
  ['127.0.0.1:5000/agent-server:20', 'http://127.0.0.1:5000', 'agent-server', '20'],
])('%s is parsed as image tools parse it', (text, origin, repository, version) => {
  const reference = parseImageReference(text)!;
  expect([originOf(reference), reference.repository, reference.version]).toEqual([origin, repository, version]);
});

it.each([
  '',
  'UPPER/case',
  'https://registry.example.com/a',
  'a/b:',
  'a@sha256:12',
  'registry.example.com/../a',
  'a b',
])('%j is no image name', (text) => {
  expect(parseImageReference(text)).toBeNull();
});
