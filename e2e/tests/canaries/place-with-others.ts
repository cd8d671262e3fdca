import type { Caller } from './caller.ts';

/** Hands over secrets of a Git server, which then fails and repeats them. */
export async function placeSecretsOfGit(caller: Caller, server: string): Promise<void> {
  const { canaries } = caller;
  const path = '/v1/integrations/github/install';
  const token = canaries.make('the token of an integration');
  const integration = await caller.make('POST', path, { name: 'canary', url: server, token, server_type: 'gitea' });
  await caller.ask('GET', `/v1/integrations/github/${integration.id}/repos`);
  const withPassword = `http://ada:${canaries.make('a password in the URL of a server')}@127.0.0.1:1`;
  await caller.ask('POST', path, { body: { name: 'x', url: withPassword, token } });

  const deployment = await caller.make('POST', '/v2/deployments', {
    name: 'canary-git',
    source: 'github',
    source_config: { integration_id: integration.id, repo_url: `${server}/acme/agent`, build_on_push: true },
    source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
    secrets: [{ name: 'KEPT', value: canaries.make('a secret of a deployment that is never built') }],
  });
  caller.deployments.push(deployment.id);
  const hook = await caller.make('GET', `/v2/deployments/${deployment.id}/github-webhook`);
  canaries.add('the secret of a push webhook', hook.secret);
  await caller.ask('POST', `/v1/integrations/github/webhooks/${deployment.id}`, {
    body: {},
    headers: { 'x-hub-signature-256': `sha256=${canaries.make('the signature of a push webhook')}` },
  });
}

/** Hands over secrets of an OAuth server, which then fails and repeats them. */
export async function placeSecretsOfOAuth(caller: Caller, server: string): Promise<void> {
  const { canaries } = caller;
  const provider = 'canary';
  await caller.make('POST', '/v2/auth/providers', {
    provider_id: provider,
    name: 'x',
    client_id: 'x',
    client_secret: canaries.make('the secret of an OAuth client'),
    auth_url: `${server}/auth`,
    token_url: `${server}/token`,
  });
  const begun = await caller.make('POST', '/v2/auth/authenticate', { provider, scopes: ['repo'] });
  const browser = canaries.make('the cookie of a browser at an OAuth provider').padEnd(43, 'x').slice(0, 43);
  const cookie = `runyard_oauth=${browser}`;
  const page = await caller.ask('GET', begun.url, { key: null, headers: { cookie } });
  const [, link = ''] = /<a href="([^"]+)"/.exec(page.body) ?? [];
  const start = await fetch(new URL(link, begun.url), { redirect: 'manual', headers: { cookie } });
  const provided = new URL(start.headers.get('location')!);
  const state = canaries.add('the state of a sign-in', provided.searchParams.get('state')!);
  const code = canaries.make('the code of a sign-in');
  const path = `/v2/auth/callback/${provider}?state=${state}&code=${code}`;
  await caller.ask('GET', path, { key: null, headers: { cookie } });
  await caller.make('POST', '/v2/auth/tokens/import', {
    provider_id: provider,
    access_token: canaries.make('an access token'),
    refresh_token: canaries.make('a refresh token'),
    // It has expired and has to be refreshed.
    expires_in_seconds: 1,
  });
  await caller.ask('POST', '/v2/auth/authenticate', { body: { provider, scopes: [] } });
  const servers = [
    `${server}/mcp?key=${canaries.make('the query of an MCP server')}`,
    `http://ada:${canaries.make('a password in the URL of an MCP server')}@127.0.0.1/mcp`,
  ];
  for (const mcp_server_url of servers) {
    await caller.ask('POST', '/v2/auth/providers/mcp-discover', {
      body: { provider_id: 'mcp', name: 'x', mcp_server_url },
    });
  }
  await caller.make('DELETE', `/v2/auth/providers/${provider}`);
}

/** Uses the credentials for sources and images of deployments, each time with a fault in the request. */
export async function placeSecretsOfSources(caller: Caller): Promise<void> {
  const { canaries } = caller;
  const create = async (source: string): Promise<string> =>
    (
      await caller.make('POST', '/v2/deployments', {
        name: source,
        source,
        source_config: {},
        source_revision_config: {},
      })
    ).id;
  const uploaded = await create('internal_source');
  const { upload_url: uploadUrl } = await caller.make('POST', `/v2/deployments/${uploaded}/upload-url`, {});
  canaries.add('the signature of an upload', new URL(uploadUrl).searchParams.get('signature')!);
  await caller.ask('PUT', `${uploadUrl}x`, { key: null, body: 'no archive' });

  const pushed = await create('internal_docker');
  const { token } = await caller.make('POST', `/v2/deployments/${pushed}/push-token`, {});
  for (const password of [canaries.add('a push token', token), canaries.make('a wrong push token')]) {
    const authorization = `Basic ${Buffer.from(`token:${password}`).toString('base64')}`;
    for (const path of ['/v2/registry/token', `/v2/registry/${pushed}/manifests/none`]) {
      await caller.ask('GET', path, { key: null, headers: { authorization } });
    }
  }
  const listener = await caller.make('POST', '/v2/listeners', {
    compute_type: 'process',
    compute_id: 'canary',
    compute_config: {},
  });
  const { key } = await caller.make('POST', `/v2/listeners/${listener.id}/keys`);
  await caller.ask('POST', `/v2/listeners/${listener.id}/status`, {
    key: canaries.add('a key of a listener', key),
    body: {},
  });
  await Promise.all([uploaded, pushed].map((id) => caller.make('DELETE', `/v2/deployments/${id}`)));
  await caller.make('DELETE', `/v2/listeners/${listener.id}`);
}
