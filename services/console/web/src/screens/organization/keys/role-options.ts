import type { Role } from '@runyard/contracts';

/** Returns the choices of a role in one kind of place, after one that names none. */
export function roleOptions(roles: readonly Role[], scope: Role['access_scope'], none: string) {
  const choices = roles.filter(({ access_scope: each }) => each === scope);
  return [{ value: '', label: none }, ...choices.map(({ id, display_name: label }) => ({ value: id, label }))];
}
