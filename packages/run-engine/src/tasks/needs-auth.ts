/** The key in the metadata of a run whose task waits until its user is authorized. */
export const NEEDS_AUTH = 'task_needs_auth';

/** An interrupt whose value has this field says by it what its task waits for. */
const FIELD = 'a2a_state';
const AUTH_REQUIRED = 'auth-required';

/** Returns whether an interrupt asks for an authorization. @param interrupts JSON text `{task id: [{id, value}]}` */
export function asksForAuth(interrupts: Uint8Array | null): boolean {
  if (interrupts === null) return false;
  const text = Buffer.from(interrupts.buffer, interrupts.byteOffset, interrupts.byteLength);
  // Interrupts may be large, and few have the field.
  if (!text.includes(`"${FIELD}"`)) return false;
  const ofTasks = JSON.parse(text.toString('utf8')) as Record<string, { value?: unknown }[]>;
  return Object.values(ofTasks)
    .flat()
    .some(({ value }) => (value as Record<string, unknown> | null | undefined)?.[FIELD] === AUTH_REQUIRED);
}
