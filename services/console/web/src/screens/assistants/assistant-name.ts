import type { Assistant } from '@runyard/contracts';

/** Returns the name of an assistant; the end of its id where its name is empty. */
export function nameOf({ name, assistant_id: id }: Pick<Assistant, 'name' | 'assistant_id'>): string {
  return name.trim() === '' ? `…${id.slice(-8)}` : name;
}
