import { OutboundPolicy, OutboundRefusedError } from '@runyard/outbound';
import { UnprocessableError } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { WebhookTargets, type WebhookTargetsOptions } from './webhook-targets.ts';

const BLOCKED = 'Webhook host blocked: localhost address';

function targets(
  settings: Partial<WebhookTargetsOptions['settings']> = {},
  options: Partial<WebhookTargetsOptions> = {},
): WebhookTargets {
  const rules = { subject: 'Webhook', ...settings.rules };
  return new WebhookTargets({
    settings: { defaultUrls: [], acceptsRefused: false, ...settings, rules },
    policy: new OutboundPolicy(rules),
    names: {
      check: async ({ hostname }) => {
        if (hostname === 'sly.test') throw new OutboundRefusedError(BLOCKED);
      },
    },
    isEnabled: true,
    hasApp: false,
    ...options,
  });
}

it('a run notifies the receiver it names, or else those the project names', async () => {
  const some = targets({ defaultUrls: ['https://a.test/in', 'https://b.test:8443/in'] });
  expect(await some.accept('https://c.test/x?y=1')).toEqual([{ url: 'https://c.test/x?y=1', host: 'c.test' }]);
  expect(await some.accept(undefined)).toEqual([
    { url: 'https://a.test/in', host: 'a.test' },
    { url: 'https://b.test:8443/in', host: 'b.test:8443' },
  ]);
  expect(await targets().accept(undefined)).toEqual([]);
});

it('a receiver that may not be reached is refused, also by the address of its name', async () => {
  for (const url of ['http://localhost/', 'https://sly.test/']) {
    await expect(targets().accept(url)).rejects.toThrow(new UnprocessableError(BLOCKED, { code: 'webhook_refused' }));
  }
});

it('a project may accept runs whose webhook is refused; the refusal stays with them', async () => {
  const lenient = targets({ acceptsRefused: true });
  expect(await lenient.accept('http://localhost/')).toEqual([{ url: 'http://localhost/', host: '', refusal: BLOCKED }]);
  expect(await lenient.accept('https://sly.test/')).toMatchObject([{ host: 'sly.test', refusal: BLOCKED }]);
  expect(targets().targetsOf('http://localhost/')).toMatchObject([{ refusal: BLOCKED }]);
});

it('a path is the own app, when there is one and loopback is allowed', async () => {
  expect(await targets({}, { hasApp: true }).accept('/hooks/run?a=1')).toEqual([{ url: '/hooks/run?a=1', host: '' }]);
  await expect(targets().accept('/hooks/run')).rejects.toThrow('the project has no app of its own');
  const rules = { subject: 'Webhook', loopback: false };
  await expect(targets({ rules }, { hasApp: true }).accept('/hooks/run')).rejects.toThrow(BLOCKED);
  const short = { subject: 'Webhook', maxUrlLength: 5 };
  await expect(targets({ rules: short }, { hasApp: true }).accept('/hooks/run')).rejects.toThrow('longer than 5');
  expect(await targets({}, { hasApp: true }).accept('/a/../b c?d=\u0000#e')).toMatchObject([{ url: '/b%20c?d=%00' }]);
  for (const url of ['//evil.test/x', '/\\evil.test/x', '/.//evil.test/x']) {
    await expect(targets({}, { hasApp: true }).accept(url)).rejects.toThrow('Webhook URL is not valid');
  }
});

it('a path to routes that ask who calls is refused, unless the project lets webhooks reach them', async () => {
  const guarded = { hasApp: true, hasGuardedApp: true };
  await expect(targets({}, guarded).accept('/hooks/run')).rejects.toThrow('routes of the project ask who calls');
  const open = targets({ rules: { subject: 'Webhook', loopback: true } }, guarded);
  expect(await open.accept('/hooks/run')).toEqual([{ url: '/hooks/run', host: '' }]);
});

it('runs notify nobody and nothing is refused where webhooks are off', async () => {
  const off = targets({ defaultUrls: ['https://a.test/'] }, { isEnabled: false });
  expect(await off.accept('http://localhost/')).toEqual([]);
  expect(await off.accept(undefined)).toEqual([]);
});
