import { startFakeServer } from '@runyard/test-kit/fake-platform';
import Type from 'typebox';
import { expect, it, onTestFinished } from 'vitest';
import { InternalClient } from './internal-client.ts';

it('an answer that is no JSON is told with its status, whoever stands between two services', async () => {
  const { url, close } = await startFakeServer((_req, res) => res.writeHead(502).end());
  onTestFinished(close);
  const client = new InternalClient({ service: 'control-plane', url, internalToken: 'token', timeoutMs: 5_000 });
  await expect(client.ask('/internal/any', {}, Type.Object({}))).rejects.toThrow(
    'control-plane answers 502 with 0 characters that are no JSON',
  );
});
