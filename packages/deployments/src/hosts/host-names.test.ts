import { describe, expect, it } from 'vitest';
import { HostNames } from './host-names.ts';

const row = { id: '0192f7a0-0000-7000-8000-000000000001', slug: 'hello' };
const publicUrl = 'https://platform.example.com:8443/';

describe('the URLs of a deployment', () => {
  it("lie below the gateway's host, and at a host below the domain, with the same port", () => {
    const names = new HostNames({ publicUrl, domain: 'Agents.example.com' });
    expect(names.pathUrlOf(row)).toBe(`https://platform.example.com:8443/deployments/${row.id}`);
    expect(names.slugUrlOf(row)).toBe('https://hello.agents.example.com:8443');
    expect(names.defaultUrlOf(row)).toBe('https://hello.agents.example.com:8443');
  });

  it.each([undefined, 'localhost', 'runyard.localhost'])(
    'use the path when the domain is %s, because not all clients resolve its subdomains',
    (domain) => {
      const names = new HostNames({ publicUrl: 'http://127.0.0.1:2024', domain });
      expect(names.slugUrlOf(row)).toBe(domain === undefined ? null : `http://hello.${domain}:2024`);
      expect(names.defaultUrlOf(row)).toBe(names.pathUrlOf(row));
    },
  );

  it('are all that the gateway leads clients by: id, slug and name in the path, and its hosts that are allowed', () => {
    const names = new HostNames({ publicUrl, domain: 'agents.example.com', customDomains: ['acme.test'] });
    const deployment = { ...row, name: 'Hello, world', workspaceId: row.id, customHost: 'hello.acme.test' };
    const always = [
      `https://platform.example.com:8443/deployments/${row.id}`,
      'https://platform.example.com:8443/deployments/hello',
      'https://platform.example.com:8443/deployments/Hello%2C%20world',
      'https://hello.agents.example.com:8443',
    ];
    expect(names.urlsOf(deployment)).toEqual([...always, 'https://hello.acme.test:8443']);
    expect(names.urlsOf({ ...deployment, customHost: 'former.example.org' })).toEqual(always);
  });

  it('leave the platform its own host: a domain above it is refused at the start', () => {
    expect(() => new HostNames({ publicUrl, domain: 'example.com' })).toThrow('choose another domain');
    expect(() => new HostNames({ publicUrl, domain: 'platform.example.com' })).not.toThrow();
    const registryUrl = 'https://registry.agents.example.com';
    const withRegistry = () => new HostNames({ publicUrl, domain: 'agents.example.com', registryUrl });
    expect(withRegistry).toThrow('REGISTRY_URL (https://registry.agents.example.com) is below DEPLOYMENTS_DOMAIN');
  });
});

describe('the host that a custom_url claims', () => {
  const [own, other] = ['0192f7a0-0000-7000-8000-00000000000a', '0192f7a0-0000-7000-8000-00000000000b'];
  const listed = ['acme.test', 'example.com', `own.acme.test=${own}`, `pages.example.com=${other}`];
  const urls = {
    registryUrl: 'https://Registry.example.com:5000',
    serviceUrls: ['http://org-access.example.com'],
    frontEndUrls: ['https://app.example.com/oauth', 'https://pages.example.com/done'],
  };
  const names = new HostNames({ publicUrl, domain: 'agents.example.com', customDomains: listed, ...urls });
  const hostOf = (custom_url: string, workspace = own) => names.customHostOf({ custom_url }, workspace);

  it('is the host in the URL, where the operator allows names of that domain', () => {
    expect(hostOf('https://Chat.acme.test./')).toBe('chat.acme.test');
    expect(hostOf('https://acme.test:444')).toBe('acme.test');
  });

  it.each([
    'https://chat.other.test',
    'https://notacme.test',
    'https://chat.acme.test/agents/hello',
    'https://chat.acme.test/?x=1',
    'https://user@chat.acme.test',
    'http://10.0.0.5',
    'http://[::1]:2024',
    'http://localhost:2024',
  ])('is none for %s', (url) => {
    expect(hostOf(url)).toBeNull();
  });

  it('is none for a deployment of a listener, to which the gateway does not forward', () => {
    expect(names.customHostOf({ custom_url: 'https://chat.acme.test', listener_id: row.id }, own)).toBeNull();
  });

  it.each([
    'https://platform.example.com',
    'https://agents.example.com',
    'https://other.agents.example.com',
    'https://registry.example.com',
    'https://org-access.example.com',
    'https://app.example.com',
  ])('is refused where it belongs to the platform: %s', (url) => {
    expect(() => hostOf(url)).toThrow("the host of 'source_config.custom_url' is the platform's");
  });

  it('is one of the workspace that the operator names for it, and of no other', () => {
    for (const url of ['https://own.acme.test', 'https://a.own.acme.test']) {
      expect(hostOf(url)).toBe(new URL(url).hostname);
      expect(() => hostOf(url, other)).toThrow("the host of 'source_config.custom_url' is another workspace's");
    }
    expect(hostOf('https://pages.example.com', other)).toBe('pages.example.com');
    expect(hostOf('https://chat.acme.test', other)).toBe('chat.acme.test');
  });

  it.each([
    [['acme.test=workspace'], 'CUSTOM_DOMAINS: "acme.test=workspace" is neither a domain'],
    [[`acme.test=${own}=${own}`], 'is neither a domain'],
    [['https://acme.test'], 'is neither a domain'],
    [['acme.test', `Acme.test=${own}`], 'CUSTOM_DOMAINS names acme.test twice.'],
    [[`registry.example.com=${own}`], 'CUSTOM_DOMAINS gives registry.example.com to a workspace'],
    [[`a.agents.example.com=${own}`], 'the platform is reached by that name'],
  ])('is not decided by entries that say nothing or too much: %s', (customDomains, problem) => {
    expect(() => new HostNames({ publicUrl, domain: 'agents.example.com', customDomains, ...urls })).toThrow(problem);
  });
});

describe('the URL of a deployment', () => {
  const names = new HostNames({
    publicUrl: 'https://runyard.example.com:8443/base/',
    domain: 'Agents.example.com',
    customDomains: ['acme.test'],
  });

  it.each([
    ['https://runyard.example.com:8443/base/deployments/support/mcp', { reference: 'support', path: '/mcp' }],
    ['https://RUNYARD.example.com:8443/base/deployments/support', { reference: 'support', path: '' }],
    ['https://support.agents.example.com:8443/mcp', { reference: 'support', path: '/mcp' }],
    ['https://tools.acme.test:8443/', { customHost: 'tools.acme.test', path: '/' }],
  ])('leads from %s to it', (url, address) => {
    expect(names.locate(url)).toEqual(address);
  });

  it.each([
    'https://elsewhere.example.com:8443/base/deployments/support/mcp',
    'http://runyard.example.com:8443/base/deployments/support/mcp',
    'https://runyard.example.com/base/deployments/support/mcp',
    'https://runyard.example.com:8443/deployments/support/mcp',
    'https://runyard.example.com:8443/base/deployments/',
    'https://runyard.example.com:8443/base/v2/deployments',
    'support',
  ])('is none where it leads elsewhere: %s', (url) => {
    expect(names.locate(url)).toBeNull();
  });

  it('may name this machine as localhost or by its address', () => {
    const local = new HostNames({ publicUrl: 'http://127.0.0.1:2024', domain: 'localhost' });
    const address = { reference: 'support', path: '/mcp' };
    expect(local.locate('http://localhost:2024/deployments/support/mcp')).toEqual(address);
    expect(local.locate('http://support.localhost:2024/mcp')).toEqual(address);
  });
});
