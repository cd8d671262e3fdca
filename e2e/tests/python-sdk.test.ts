import { TestOAuthServer } from '@runyard/test-kit/oauth-server';
import { describe, inject, it } from 'vitest';
import { runPythonTests } from '../harness/python.ts';

const { url, deploymentUrl, apiKey } = inject('platform');
const clientSecret = 'known to the platform and to the OAuth server';
const oauthServer = await TestOAuthServer.start([
  { client_id: 'runyard', client_secret: clientSecret, redirect_uris: [`${url}/v2/auth/callback/python`] },
]);
const tests = await runPythonTests(
  { url: deploymentUrl, apiKey },
  {
    RUNYARD_PLATFORM_URL: url,
    RUNYARD_OAUTH_SERVER_URL: oauthServer.url,
    RUNYARD_OAUTH_CLIENT_SECRET: clientSecret,
  },
).finally(() => oauthServer.close());

/** The tests themselves are in `e2e/python`. */
describe('the official Python clients', () => {
  it.each(tests.map((test) => [test.name, test] as const))('%s', (_, { passed, failure }) => {
    if (!passed) throw new Error(failure);
  });
});
