import { type BudgetCreate, isUuid } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import type { BudgetScope } from './budget-service.ts';

type Subject = BudgetCreate['subject'];

/** The subjects that a budget of a deployment, and one of a workspace, can be for. */
const SUBJECTS: Record<'deployment' | 'workspace', readonly Subject[]> = {
  deployment: ['deployment', 'assistant', 'creator', 'key'],
  // Assistants belong to deployments.
  workspace: ['workspace', 'deployment', 'creator', 'key'],
};
/** Subjects whose budget is for one alone where it names one. */
const NAMED: readonly Subject[] = ['assistant', 'creator', 'key'];

/** Returns whose use a budget counts. @throws InvalidFieldError */
export function readSubject(
  { deploymentId }: BudgetScope,
  { subject, subject_id: id = null }: BudgetCreate,
): { subject: Subject; subjectId: string | null } {
  const place = deploymentId === null ? 'workspace' : 'deployment';
  if (!SUBJECTS[place].includes(subject)) {
    const told = `A budget of a ${place} is for one of: ${SUBJECTS[place].join(', ')}`;
    throw new InvalidFieldError(['body', 'subject'], told);
  }
  if (id === null) return { subject, subjectId: null };
  if (!NAMED.includes(subject))
    throw new InvalidFieldError(['body', 'subject_id'], `A budget for the ${subject} names nobody`);
  if (subject !== 'assistant') return { subject, subjectId: id };
  if (!isUuid(id)) throw new InvalidFieldError(['body', 'subject_id'], 'Must be the id of an assistant');
  return { subject, subjectId: id.toLowerCase() };
}

/** The caps of a budget; null: any number. */
export interface Caps {
  tokensMax: bigint | null;
  runsMax: bigint | null;
}

/**
 * Returns the caps that a request asks for.
 *
 * @param present the caps where the request leaves them out
 * @throws InvalidFieldError when there is none
 */
export function readCaps(
  { tokens_max, runs_max }: Pick<BudgetCreate, 'tokens_max' | 'runs_max'>,
  present: Caps = { tokensMax: null, runsMax: null },
): Caps {
  const read = (asked: number | null | undefined, is: bigint | null) => {
    if (asked === undefined) return is;
    return asked === null ? null : BigInt(asked);
  };
  const caps = { tokensMax: read(tokens_max, present.tokensMax), runsMax: read(runs_max, present.runsMax) };
  if (caps.tokensMax === null && caps.runsMax === null)
    throw new InvalidFieldError(['body'], 'A budget caps tokens_max, runs_max or both');
  return caps;
}
