import type { Principal } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { GithubIntegrations } from './integrations.ts';

const caller: Principal = {
  kind: 'service_key',
  identity: '33333333-0000-4000-8000-000000000001',
  organizationId: '11111111-0000-4000-8000-000000000001',
  workspaceId: '22222222-0000-4000-8000-000000000001',
  permissions: ['deployments:create'],
};

it('a token is refused for a server to which it would be sent unencrypted', async () => {
  const unused = undefined as never;
  const rules = { allowsLocal: false };
  const integrations = new GithubIntegrations({ database: unused, cipher: unused, listing: unused, rules });
  const made = integrations.create(caller, { name: 'acme', url: 'http://git.example.com', token: 'a-token' });
  await expect(made).rejects.toMatchObject({ status: 400, message: expect.stringContaining('in the clear') });
});
