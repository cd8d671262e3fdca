import type { Budget } from '@runyard/contracts';
import type { BudgetsPlace } from '../../platform/budgets.ts';

type Subject = Budget['subject'];
/** The subjects of which each can have a budget of its own. */
export type Owner = Exclude<Subject, 'workspace'>;
/** The fields that say whose use a budget counts. */
export type Counted = Pick<Budget, 'subject' | 'subject_id' | 'deployment_id'>;

interface SubjectOption {
  value: Subject;
  label: string;
}

const OF_PEOPLE: readonly SubjectOption[] = [
  { value: 'creator', label: 'Creators of runs' },
  { value: 'key', label: 'Keys' },
];
const OF_DEPLOYMENT: readonly SubjectOption[] = [
  { value: 'deployment', label: 'The whole deployment, together' },
  { value: 'assistant', label: 'Assistants' },
  ...OF_PEOPLE,
];
/** Assistants are those of one deployment, and have no budget here. */
const OF_WORKSPACE: readonly SubjectOption[] = [
  { value: 'workspace', label: 'The whole workspace, together' },
  { value: 'deployment', label: 'Each deployment, by itself' },
  ...OF_PEOPLE,
];

/** Returns the subjects that budgets of a place can have, as a form shows them. */
export function subjectOptions({ deploymentId }: BudgetsPlace): readonly SubjectOption[] {
  return deploymentId === undefined ? OF_WORKSPACE : OF_DEPLOYMENT;
}

/** Returns whether a budget of the subject can be for one alone, by its id. */
export function canBeOfOne(subject: Subject): subject is 'assistant' | 'creator' | 'key' {
  return subject !== 'workspace' && subject !== 'deployment';
}

/** Returns the subject of which each has the budget for itself; undefined where one alone has it, or all together. */
export function ownersOf({ subject, subject_id: id, deployment_id: deploymentId }: Counted): Owner | undefined {
  if (id !== null || subject === 'workspace') return undefined;
  return subject === 'deployment' && deploymentId !== null ? undefined : subject;
}
