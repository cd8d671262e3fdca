import type { PolicyConditionGroup, PolicyOperator } from '@runyard/contracts';
import { describe, expect, it } from 'vitest';
import { type EffectivePolicy, isLeftByPolicies, type Tags } from './decide.ts';
import { matchesGlob } from './matches-glob.ts';

const tagged = (values: Record<string, string[]>): Tags =>
  new Map(Object.entries(values).map(([key, each]) => [key, new Set(each)]));
const condition = (operator: PolicyOperator, attribute_value: string, attribute_key = 'env') =>
  ({ attribute_name: 'resource_tag_key', attribute_key, operator, attribute_value }) as const;
const group = (...conditions: ReturnType<typeof condition>[]): PolicyConditionGroup => ({
  resource_type: 'deployment',
  permission: 'deployments:update',
  conditions,
});
const decide = (policies: EffectivePolicy[], tags: Tags, permission = 'deployments:update') =>
  isLeftByPolicies(policies, { permission, resourceType: 'deployment', tags });

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
    expect(decide([{ effect: 'allow', groups: [group(condition(operator, value))] }], tags)).toBe(holds);
    expect(decide([{ effect: 'deny', groups: [group(condition(operator, value))] }], tags)).toBe(!holds);
  });
});

describe('policies', () => {
  const [isProd, isRed] = [condition('equals', 'prod'), condition('equals', 'red', 'team')];
  const allow = (...groups: PolicyConditionGroup[]): EffectivePolicy => ({ effect: 'allow', groups });
  const deny = (...groups: PolicyConditionGroup[]): EffectivePolicy => ({ effect: 'deny', groups });
  const prodRed = tagged({ env: ['prod'], team: ['red'] });
  const prodBlue = tagged({ env: ['prod'], team: ['blue'] });

  it.each<[string, EffectivePolicy[], Tags, boolean]>([
    ['none at all leave what roles give', [], prodRed, true],
    ['a deny wins over an allow', [allow(group(isProd)), deny(group(isRed))], prodRed, false],
    ['a deny that does not match leaves the allow', [allow(group(isProd)), deny(group(isRed))], prodBlue, true],
    ['all conditions of a group have to hold', [allow(group(isProd, isRed))], prodBlue, false],
    ['one group is enough', [allow(group(isRed), group(isProd))], prodBlue, true],
    ['one policy is enough', [allow(group(isRed)), allow(group(isProd))], prodBlue, true],
    ['an allow for others excludes', [allow(group(isRed))], prodBlue, false],
    ['a deny of others leaves', [deny(group(isRed))], tagged({}), true],
  ])('%s', (_, policies, tags, expected) => {
    expect(decide(policies, tags)).toBe(expected);
  });

  it('concern only the permission and the type of resource that they name', () => {
    const foreign: PolicyConditionGroup = { ...group(isProd), resource_type: 'project' };
    expect(decide([allow(foreign), deny(foreign)], prodRed)).toBe(true);
    expect(decide([allow(group(isRed)), deny(group(isProd))], prodBlue, 'deployments:read')).toBe(true);
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

  it('that is built to take long is decided at once', () => {
    const started = performance.now();
    expect(matchesGlob(`${'a*'.repeat(120)}b`, 'a'.repeat(255))).toBe(false);
    expect(performance.now() - started).toBeLessThan(500);
  });
});
