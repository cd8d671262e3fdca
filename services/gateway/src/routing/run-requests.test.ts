import { expect, it } from 'vitest';
import { isRunRequest } from './run-requests.ts';

it.each(['/a2a/echo', '/a2a/echo/', '/mcp', '/mcp/', '/below/mcp/'])(
  'a call of JSON-RPC at %s counts as an open run, as the deployment answers it with and without a slash',
  (path) => {
    expect(isRunRequest('POST', path, '/below')).toBe(true);
  },
);
