import { readConfig } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { configSchema } from '../config.ts';
import { RateLimits } from './rate-limits.ts';

const REQUIRED = {
  ORG_ACCESS_URL: 'http://o',
  CONTROL_PLANE_URL: 'http://c',
  INTERNAL_TOKEN: 'a-token-of-thirty-two-characters',
};
const claims = {
  sub: 'person',
  aud: 'gateway',
  exp: 0,
  organization_id: 'organization',
  workspace_id: 'workspace',
  kind: 'service_key' as const,
  key_id: 'key',
  organization_role: 'user' as const,
  permissions: [],
};

it('a burst of 2,000 creates and 500 reconnections on one key is within the default limits', () => {
  const limits = new RateLimits(readConfig(configSchema, { environment: REQUIRED }));
  for (let count = 0; count < 2_500; count += 1) limits.take({ claims, address: '203.0.113.7' });
});

it('a request that one dimension refuses counts in no other', () => {
  const environment = { ...REQUIRED, RATE_LIMIT_RPS: '0.001', RATE_LIMIT_BURST: '1', RATE_LIMIT_TENANT_BURST: '2' };
  const limits = new RateLimits(
    readConfig(configSchema, { environment: { ...environment, RATE_LIMIT_TENANT_RPS: '0.001' } }),
  );
  limits.take({ claims, address: '' });
  expect(() => limits.take({ claims, address: '' })).toThrow('Too many requests with this key');
  limits.take({ claims: { ...claims, key_id: 'another' }, address: '' });
  expect(() => limits.take({ claims: { ...claims, key_id: 'third' }, address: '' })).toThrow('of this workspace');
});

it('a rate of 0 is no limit, and adds no headers', () => {
  const off = {
    RATE_LIMIT_RPS: '0',
    RATE_LIMIT_TENANT_RPS: '0',
    RATE_LIMIT_ADDRESS_RPS: '0',
    RATE_LIMIT_FAILURES_RPS: '0',
  };
  const limits = new RateLimits(readConfig(configSchema, { environment: { ...REQUIRED, ...off } }));
  for (let count = 0; count < 10_000; count += 1) expect(limits.take({ claims, address: '' })).toEqual([]);
  expect(limits.refusalOfGuesses({ address: '203.0.113.7' })).toBeUndefined();
});

it('a person is limited over all credentials, and an organization over all people', () => {
  const ofPersons = { RATE_LIMIT_PERSON_RPS: '0.001', RATE_LIMIT_PERSON_BURST: '2' };
  const ofOrganizations = { RATE_LIMIT_ORGANIZATION_RPS: '0.001', RATE_LIMIT_ORGANIZATION_BURST: '4' };
  const environment = { ...REQUIRED, ...ofPersons, ...ofOrganizations };
  const limits = new RateLimits(readConfig(configSchema, { environment }));
  const { key_id: _, ...ofNoKey } = claims;
  const session = (sub: string) => ({ ...ofNoKey, sub, kind: 'session' as const, person_id: sub, session_id: sub });
  limits.take({ claims: session('ada'), address: '' });
  limits.take({ claims: { ...claims, person_id: 'ada' }, address: '' });
  expect(() => limits.take({ claims: session('ada'), address: '' })).toThrow('Too many requests of this person');
  limits.take({ claims: session('bob'), address: '' });
  limits.take({ claims, address: '' });
  expect(() => limits.take({ claims, address: '' })).toThrow('Too many requests of this organization');
  limits.take({ claims: { ...session('eve'), organization_id: 'other' }, address: '' });
});
