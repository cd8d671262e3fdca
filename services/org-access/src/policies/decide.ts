import type { PolicyCondition, PolicyConditionGroup, PolicyOperator } from '@runyard/contracts';
import { matchesGlob } from './matches-glob.ts';

/** A policy that is attached to a role of the caller. */
export interface EffectivePolicy {
  effect: 'allow' | 'deny';
  groups: readonly PolicyConditionGroup[];
}

/** The tags of a resource: values by key. */
export type Tags = ReadonlyMap<string, ReadonlySet<string>>;

export interface PolicyQuestion {
  permission: string;
  resourceType: PolicyConditionGroup['resource_type'];
  tags: Tags;
}

/**
 * Returns whether policies leave a permission that the caller's roles give. A deny that matches wins. Where policies
 * allow the permission on this type of resource, one of them has to match; otherwise the roles decide alone. Policies
 * never give more than the roles do.
 */
export function isLeftByPolicies(policies: readonly EffectivePolicy[], question: PolicyQuestion): boolean {
  const groupsOf = (effect: EffectivePolicy['effect']) =>
    policies
      .filter((policy) => policy.effect === effect)
      .flatMap(({ groups }) => groups)
      .filter((group) => group.permission === question.permission && group.resource_type === question.resourceType);
  const holds = (group: PolicyConditionGroup) => group.conditions.every((each) => isMet(each, question.tags));
  if (groupsOf('deny').some(holds)) return false;
  const allowing = groupsOf('allow');
  return allowing.length === 0 || allowing.some(holds);
}

/** One value of a key is enough; a negated operator holds when no value meets the plain one. */
function isMet({ attribute_key, attribute_value, operator }: PolicyCondition, tags: Tags): boolean {
  const values = tags.get(attribute_key);
  const { comparison, isNegated, holdsWithoutKey } = parseOperator(operator);
  if (!values || values.size === 0) return holdsWithoutKey;
  const isMatch = [...values].some((value) => COMPARISONS[comparison](value, attribute_value));
  return isMatch !== isNegated;
}

const COMPARISONS = {
  equals: (value: string, wanted: string) => value === wanted,
  equals_ignore_case: (value: string, wanted: string) => foldCase(value) === foldCase(wanted),
  matches: (value: string, pattern: string) => matchesGlob(pattern, value),
};

function parseOperator(operator: PolicyOperator) {
  const holdsWithoutKey = operator.endsWith('_if_exists');
  const plain = operator.replace(/_if_exists$/, '');
  const isNegated = plain.startsWith('not_');
  return { comparison: plain.replace(/^not_/, '') as keyof typeof COMPARISONS, isNegated, holdsWithoutKey };
}

function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
