import { isUuid } from '@runyard/contracts';
import { v5 as uuidv5 } from 'uuid';

/** The namespace of the ids of threads that clients name by other texts than UUIDs. */
const NAMESPACE = '6d8f1d0e-3f57-4b0e-9a57-0d3f0c1f6b8e';

/**
 * Returns the id of the thread that a client names. A UUID is the id itself; other texts name a thread of the user's
 * own, so that two users who choose the same text do not meet. `user` is empty where a project has no users.
 */
export function threadIdOf(name: string, user: string): string {
  return isUuid(name) ? name.toLowerCase() : uuidv5(JSON.stringify([user, name]), NAMESPACE);
}
