import type { WebhooksSection } from '@runyard/project';
import { ConfigError } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { type WebhookSettingsSources, webhookSettings } from './webhook-settings.ts';

function settings(section: WebhooksSection | null, sources: Partial<WebhookSettingsSources> = {}) {
  return webhookSettings({
    section,
    environment: {},
    serviceEnvironment: {},
    allowedNetworks: undefined,
    signingSecrets: undefined,
    ...sources,
  });
}
function problems(section: WebhooksSection | null, sources: Partial<WebhookSettingsSources> = {}): string[] {
  try {
    settings(section, sources);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
const template = (name: string) => `Bearer \${{ env.${name} }}!`;

it('a project without settings has unsigned webhooks with all fields and no headers', () => {
  expect(settings(null)).toMatchObject({ headers: {}, defaultUrls: [], acceptsRefused: false, signingKeys: [] });
  expect([...settings(null).fields]).toContain('values');
});

it('a header takes variables of the project, and those of this process that are meant for webhooks', () => {
  const environment = { LG_WEBHOOK_A: 'a', HOOK_C: 'c' };
  const serviceEnvironment = { LG_WEBHOOK_A: 'outer', LG_WEBHOOK_B: 'b' };
  const section = { headers: { 'x-a': template('LG_WEBHOOK_A'), 'x-b': template('LG_WEBHOOK_B'), 'x-plain': 'p' } };
  expect(settings(section, { environment, serviceEnvironment }).headers).toEqual({
    'x-a': 'Bearer a!',
    'x-b': 'Bearer b!',
    'x-plain': 'p',
  });
  expect(settings({ env_prefix: 'HOOK_', headers: { 'x-c': template('HOOK_C') } }, { environment }).headers).toEqual({
    'x-c': 'Bearer c!',
  });
});

it('a prefix chosen by the project does not open the secrets of this process', () => {
  const section = { env_prefix: 'DATABASE_', headers: { 'x-a': template('DATABASE_URI') } };
  expect(problems(section, { serviceEnvironment: { DATABASE_URI: 'postgres://secret' } })).toEqual([
    'The variable DATABASE_URI is not set; webhooks.headers."x-a" of langgraph.json needs it.',
  ]);
});

it('a missing variable, a wrong prefix, a foreign template and a reserved header stop the start with a sentence each', () => {
  const headers = {
    'x-missing': template('LG_WEBHOOK_NONE'),
    'x-other': template('HOME'),
    'x-odd': `\${{ secrets.A }}`,
    'webhook-signature': 'v1,x',
    'bad name': 'x',
    'x-line': 'a\nb',
  };
  expect(problems({ headers }, { environment: { HOME: '/root' } })).toEqual([
    'The variable LG_WEBHOOK_NONE is not set; webhooks.headers."x-missing" of langgraph.json needs it.',
    'langgraph.json: webhooks.headers."x-other" names the variable HOME, which does not begin with "LG_WEBHOOK_" (webhooks.env_prefix).',
    `langgraph.json: webhooks.headers."x-odd" may hold \${{ env.NAME }} and nothing else in \${{ }}.`,
    'langgraph.json: webhooks.headers must not set "webhook-signature": it is set with each webhook.',
    'langgraph.json: webhooks.headers."bad name" is not a header that can be sent.',
    'langgraph.json: webhooks.headers."x-line" is not a header that can be sent.',
  ]);
});

it('rules, fields, defaults and the treatment of refused ones are read from the project', () => {
  const section: WebhooksSection = {
    url: {
      require_https: true,
      allowed_domains: ['*.a.test'],
      allowed_ports: [443],
      max_url_length: 99,
      disable_loopback: true,
    },
    payload_fields: ['run_id', 'status'],
    default_url: 'https://x.a.test/',
    on_refused: 'accept',
  };
  const taken = settings(section, { allowedNetworks: ['10.0.0.0/8'] });
  expect(taken).toMatchObject({
    rules: {
      subject: 'Webhook',
      requireHttps: true,
      allowedDomains: ['*.a.test'],
      allowedPorts: [443],
      maxUrlLength: 99,
      loopback: false,
      allowedNetworks: ['10.0.0.0/8'],
    },
    defaultUrls: ['https://x.a.test/'],
    acceptsRefused: true,
  });
  expect([...taken.fields]).toEqual(['run_id', 'status']);
  expect(settings({ default_url: ['https://a.test/', 'https://b.test/'] }).defaultUrls).toHaveLength(2);
});

it('secrets are the operator’s, else the project’s; an invalid one stops the start and is not shown', () => {
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  expect(settings(null, { signingSecrets: [secret] }).signingKeys).toEqual([Buffer.alloc(32, 1)]);
  expect(settings(null, { environment: { WEBHOOK_SIGNING_SECRETS: `${secret}, ${secret}` } }).signingKeys).toHaveLength(
    2,
  );
  const [problem, ...others] = problems(null, { signingSecrets: [secret, 'hunter2'] });
  expect(problem).toMatch(/^WEBHOOK_SIGNING_SECRETS: secret 2 must be "whsec_"/);
  expect(problem).not.toContain('hunter2');
  expect(others).toEqual([]);
});

it('a warning is logged when variables in headers may go to receivers of any name', () => {
  const headers = { authorization: template('LG_WEBHOOK_TOKEN') };
  const environment = { LG_WEBHOOK_TOKEN: 't' };
  expect(settings({ headers }, { environment }).warnings).toEqual([expect.stringContaining('allowed_domains')]);
  expect(settings({ headers, url: { allowed_domains: ['a.test'] } }, { environment }).warnings).toEqual([]);
  expect(settings({ headers: { 'x-from': 'us' } }).warnings).toEqual([]);
});
