import type { PolicyCondition, PolicyConditionGroup, PolicyOperator } from '@runyard/contracts';
import { matchesGlob } from './matches-glob.ts';

/** A policy that is attached to a role of the caller. */
export interface EffectivePolicy {
  id: string;
  name: string;
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

/** The effect that wins, and the policies that have it and match. */
export interface PolicyDecision {
  effect: EffectivePolicy['effect'];
  policies: EffectivePolicy[];
}

/**
 * Returns the decision of policies about a permission on a resource: a deny that matches wins over every allow. Null when
 * none matches, so that the roles decide.
 */
export function decideByPolicies(
  policies: readonly EffectivePolicy[],
  { permission, resourceType, tags }: PolicyQuestion,
): PolicyDecision | null {
  const matching = policies.filter(({ groups }) =>
    groups.some(
      (group) =>
        group.permission === permission &&
        group.resource_type === resourceType &&
        group.conditions.every((each) => isMet(each, tags)),
    ),
  );
  const denying = matching.filter(({ effect }) => effect === 'deny');
  if (denying.length > 0) return { effect: 'deny', policies: denying };
  return matching.length > 0 ? { effect: 'allow', policies: matching } : null;
}

/**
 * Returns the permissions on a resource after policies.
 *
 * @param held the permissions that the roles give
 */
export function permissionsAfterPolicies(
  policies: readonly EffectivePolicy[],
  resource: Omit<PolicyQuestion, 'permission'>,
  held: readonly string[],
): string[] {
  const candidates = [...new Set([...held, ...allowablePermissions(policies, resource.resourceType)])];
  return candidates.filter((permission) => {
    const decision = decideByPolicies(policies, { ...resource, permission });
    return decision ? decision.effect === 'allow' : held.includes(permission);
  });
}

/** Returns the permissions that policies allow on resources of this type with certain tags. */
export function allowablePermissions(
  policies: readonly EffectivePolicy[],
  resourceType: PolicyQuestion['resourceType'],
): string[] {
  const groups = policies.filter(({ effect }) => effect === 'allow').flatMap((policy) => policy.groups);
  const permissions = groups.flatMap((group) => (group.resource_type === resourceType ? [group.permission] : []));
  return [...new Set(permissions)];
}

/** Returns whether any of the policies is about resources of this type. */
export function concernType(
  policies: readonly EffectivePolicy[],
  resourceType: PolicyQuestion['resourceType'],
): boolean {
  return policies.some(({ groups }) => groups.some((group) => group.resource_type === resourceType));
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
