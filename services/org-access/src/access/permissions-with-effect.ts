import { PERMISSIONS_WITHOUT_EFFECT } from '@runyard/contracts';

/** Returns the permissions of a role that give something. */
export function withEffect(permissions: readonly string[]): string[] {
  return permissions.filter((name) => !PERMISSIONS_WITHOUT_EFFECT.has(name));
}
