import { type HandlerRequest, type Logger, UnavailableError } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { RedirectUris } from '../providers/redirect-uris.ts';
import { BrowserCookie } from './browser-cookie.ts';
import { callbackRoutes } from './callback-routes.ts';
import type { FlowService } from './flow-service.ts';

const log = { info: () => undefined, error: () => undefined } as unknown as Logger;

async function callback(finish: () => Promise<void>, finishedUrl?: string) {
  const cookie = new BrowserCookie('https://agents.example');
  const flows = { finishInBrowser: finish } as unknown as FlowService;
  const routes = callbackRoutes(flows, { cookie, ...(finishedUrl && { finishedUrl }) });
  const { handler } = routes.find(({ operation }) => operation.operationId === 'oauthCallback')!;
  const request = { params: { provider_id: 'git&hub' }, query: { code: 'c', state: 's' }, headers: {}, log };
  return (await handler(request as unknown as HandlerRequest))!;
}
const fails = async () => {
  throw new UnavailableError('The <database> is not available', { code: 'database_unavailable' });
};

it('a configured page gets the outcome, and none of the parameters of the callback', async () => {
  const page = 'https://ui.example/connected?tab=accounts';
  for (const [finish, status] of [
    [async () => undefined, 'completed'],
    [fails, 'failed'],
  ] as const) {
    const answer = await callback(finish, page);
    expect(answer).toMatchObject({
      status: 303,
      headers: { location: `https://ui.example/connected?tab=accounts&provider_id=git%26hub&status=${status}` },
    });
  }
});

it('without a configured page, a person reads the outcome here, whatever failed', async () => {
  const answer = await callback(fails);
  expect(answer.status).toBe(503);
  expect(answer.body).toContain('The &lt;database&gt; is not available');
  const unexpected = await callback(async () => {
    throw new Error('secret detail');
  });
  expect(unexpected.status).toBe(500);
  expect(unexpected.body).not.toContain('secret detail');
});

it('a browser without a key can only finish a flow that was begun without a front end', () => {
  const own = new RedirectUris('https://agents.example/base/');
  expect(own.uriOf('github')).toBe('https://agents.example/base/v2/auth/callback/github');
  expect(own.isOwn(own.uriOf('github'))).toBe(true);
  const frontEnd = new RedirectUris('https://agents.example', 'https://ui.example/host-oauth-callback/');
  expect(frontEnd.uriOf('github')).toBe('https://ui.example/host-oauth-callback/github');
  expect(frontEnd.isOwn(frontEnd.uriOf('github'))).toBe(false);
});
