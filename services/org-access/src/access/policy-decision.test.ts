import type { PolicyConditionGroup, PolicyOperator } from '@runyard/contracts';
import { describe, expect, it } from 'vitest';
import { matchesGlob } from './matches-glob.ts';
import { decideByPolicies, type EffectivePolicy, permissionsAfterPolicies, type Tags } from './policy-decision.ts';

const tagged = (values: Record<string, string[]>): Tags =>
  new Map(Object.entries(values).map(([key, each]) => [key, new Set(each)]));
const condition = (operator: PolicyOperator, attribute_value: string, attribute_key = 'env') =>
  ({ attribute_name: 'resource_tag_key', attribute_key, operator, attribute_value }) as const;
const group = (...conditions: ReturnType<typeof condition>[]): PolicyConditionGroup => ({
  resource_type: 'deployment',
  permission: 'deployments:update',
  conditions,
});
const policy = (effect: EffectivePolicy['effect'], ...groups: PolicyConditionGroup[]): EffectivePolicy => ({
  id: `${effect} ${JSON.stringify(groups)}`,
  name: effect,
  effect,
  groups,
});
const decide = (policies: EffectivePolicy[], tags: Tags, permission = 'deployments:update') =>
  decideByPolicies(policies, { permission, resourceType: 'deployment', tags })?.effect ?? 'roles';

describe('a condition', () => {
  const [none, prod, both] = [tagged({}), tagged({ env: ['prod'] }), tagged({ env: ['prod', 'dev'] })];
  it.each<[PolicyOperator, string, Tags, boolean]>([
    ['equals', 'prod', prod, true],
    ['equals', 'Prod', prod, false],
    ['equals', 'dev', both, true],
    ['equals', 'prod', none, false],
    ['equals_if_exists', 'prod', none, true],
    ['equals_if_exists', 'dev', prod, false],
    ['not_equals', 'prod', prod, false],
    ['not_equals', 'dev', prod, true],
    ['not_equals', 'dev', both, false],
    ['not_equals', 'prod', none, false],
    ['not_equals_if_exists', 'prod', none, true],
    ['equals_ignore_case', 'PROD', prod, true],
    ['not_equals_ignore_case', 'PROD', prod, false],
    ['not_equals_ignore_case', 'DEV', prod, true],
    ['equals_ignore_case_if_exists', 'x', none, true],
    ['not_equals_ignore_case_if_exists', 'PROD', prod, false],
    ['matches', 'pr*', prod, true],
    ['matches', '*o?', prod, true],
    ['matches', 'pr', prod, false],
    ['not_matches', 'pr*', prod, false],
    ['not_matches', 'de*', prod, true],
    ['not_matches', 'de*', both, false],
    ['matches_if_exists', 'pr*', none, true],
    ['not_matches_if_exists', 'pr*', prod, false],
  ])('%s %s', (operator, value, tags, holds) => {
    for (const effect of ['allow', 'deny'] as const)
      expect(decide([policy(effect, group(condition(operator, value)))], tags)).toBe(holds ? effect : 'roles');
  });
});

describe('policies', () => {
  const [isProd, isRed] = [condition('equals', 'prod'), condition('equals', 'red', 'team')];
  const allow = (...groups: PolicyConditionGroup[]) => policy('allow', ...groups);
  const deny = (...groups: PolicyConditionGroup[]) => policy('deny', ...groups);
  const prodRed = tagged({ env: ['prod'], team: ['red'] });
  const prodBlue = tagged({ env: ['prod'], team: ['blue'] });

  it.each<[string, EffectivePolicy[], Tags, 'allow' | 'deny' | 'roles']>([
    ['none at all leave it to the roles', [], prodRed, 'roles'],
    ['an allow that matches allows', [allow(group(isProd))], prodRed, 'allow'],
    ['a deny wins over an allow', [allow(group(isProd)), deny(group(isRed))], prodRed, 'deny'],
    ['a deny that does not match leaves the allow', [allow(group(isProd)), deny(group(isRed))], prodBlue, 'allow'],
    ['all conditions of a group have to hold', [allow(group(isProd, isRed))], prodBlue, 'roles'],
    ['one group is enough', [allow(group(isRed), group(isProd))], prodBlue, 'allow'],
    ['one policy is enough', [allow(group(isRed)), allow(group(isProd))], prodBlue, 'allow'],
    ['an allow that does not match leaves it to the roles', [allow(group(isRed))], prodBlue, 'roles'],
    ['a deny of others leaves it to the roles', [deny(group(isRed))], tagged({}), 'roles'],
  ])('%s', (_, policies, tags, expected) => {
    expect(decide(policies, tags)).toBe(expected);
  });

  it('concern only the permission and the type of resource that they name', () => {
    const foreign: PolicyConditionGroup = { ...group(isProd), resource_type: 'project' };
    expect(decide([allow(foreign), deny(foreign)], prodRed)).toBe('roles');
    expect(decide([allow(group(isRed)), deny(group(isProd))], prodBlue, 'deployments:read')).toBe('roles');
  });

  it('that win are all named', () => {
    const denies = [deny(group(isRed)), deny(group(isProd, isRed))];
    const decision = decideByPolicies([allow(group(isProd)), ...denies, deny(group(condition('equals', 'dev')))], {
      ...{ permission: 'deployments:update', resourceType: 'deployment', tags: prodRed },
    });
    expect(decision).toEqual({ effect: 'deny', policies: denies });
  });

  it.each<[string, EffectivePolicy[], string[], string[]]>([
    ['what the roles give, without policies', [], ['deployments:update'], ['deployments:update']],
    ['more than the roles give, by an allow', [allow(group(isProd))], [], ['deployments:update']],
    [
      'nothing that is denied, although roles give and policies allow it',
      [allow(group(isProd)), deny(group(isRed))],
      ['deployments:update', 'deployments:read'],
      ['deployments:read'],
    ],
    [
      'what the roles give, although an allow is about others',
      [allow(group(condition('equals', 'dev')))],
      ['deployments:update'],
      ['deployments:update'],
    ],
    [
      'nothing where roles give nothing and an allow is about others',
      [allow(group(condition('equals', 'dev')))],
      [],
      [],
    ],
  ])('leave %s', (_, policies, held, expected) => {
    const resource = { resourceType: 'deployment', tags: prodRed } as const;
    expect(permissionsAfterPolicies(policies, resource, held)).toEqual(expected);
  });
});

describe('a pattern', () => {
  it.each([
    ['', '', true],
    ['*', '', true],
    ['?', '', false],
    ['a*b*c', 'axxbxxc', true],
    ['a*b*c', 'axxbxx', false],
    ['**', 'anything', true],
    ['.*', 'x', false],
    ['[a]', 'a', false],
    ['?', '🙂', true],
  ])('%j on %j is %s', (pattern, text, expected) => {
    expect(matchesGlob(pattern, text)).toBe(expected);
  });

  it('that is built to take long is decided: each star tried anew would take for ever', () => {
    expect(matchesGlob(`${'a*'.repeat(120)}b`, 'a'.repeat(255))).toBe(false);
  });
});
