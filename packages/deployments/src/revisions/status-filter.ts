import { RevisionStatus } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';

const KNOWN = RevisionStatus.anyOf.map((branch) => branch.const);

/** Parses a filter like `DEPLOYED,QUEUED`, in upper or lower case. Undefined means every status. */
export function parseStatuses(text: string | undefined): RevisionStatus[] | undefined {
  if (!text) return undefined;
  return text
    .split(',')
    .map((part) => part.trim().toUpperCase())
    .filter(Boolean)
    .map((part) => KNOWN.find((known) => known === part) ?? refuse(part));
}

function refuse(part: string): never {
  const msg = `${part.slice(0, 40)} is not a revision status`;
  throw new InvalidFieldError(['query', 'status'], msg, { type: 'enum_error' });
}
