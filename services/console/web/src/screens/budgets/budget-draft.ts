import type { Budget, BudgetCreate, BudgetPatch } from '@runyard/contracts';
import { canBeOfOne } from './budget-subject.ts';

/** A budget as a form has it. */
export interface BudgetDraft {
  name: string;
  subject: Budget['subject'];
  /** The id of one assistant, creator or key that has it alone; empty: each has one. */
  subjectId: string;
  period: Budget['period'];
  /** As typed; empty: any number. */
  tokensMax: string;
  runsMax: string;
  mode: Budget['mode'];
  refusalStatus: Budget['refusal_status'];
}
export type BudgetField = keyof BudgetDraft;

/** The fields of the platform, by those of the form. */
export const FIELD_PATHS: Record<BudgetField, string> = {
  name: 'name',
  subject: 'subject',
  subjectId: 'subject_id',
  period: 'period',
  tokensMax: 'tokens_max',
  runsMax: 'runs_max',
  mode: 'mode',
  refusalStatus: 'refusal_status',
};

export const EMPTY: BudgetDraft = {
  name: '',
  subject: 'creator',
  subjectId: '',
  period: 'day',
  tokensMax: '',
  runsMax: '',
  mode: 'enforced',
  refusalStatus: 429,
};

/** The platform takes no larger cap. */
const CAP_MAX = 1_000_000_000_000;

/** Returns the draft to change a budget by. */
export function draftOf(budget: Budget): BudgetDraft {
  return {
    name: budget.name,
    subject: budget.subject,
    subjectId: budget.subject_id ?? '',
    period: budget.period,
    tokensMax: budget.tokens_max?.toString() ?? '',
    runsMax: budget.runs_max?.toString() ?? '',
    mode: budget.mode,
    refusalStatus: budget.refusal_status,
  };
}

/**
 * Returns the cap that was typed: null for an empty field, undefined for what is no cap. Numbers may be written as
 * pages show them, `100,000`.
 */
export function readCap(text: string): number | null | undefined {
  const typed = text.trim();
  if (typed === '') return null;
  if (!/^(\d+|\d{1,3}(,\d{3})+)$/.test(typed)) return undefined;
  const cap = Number(typed.replaceAll(',', ''));
  return cap >= 1 && cap <= CAP_MAX ? cap : undefined;
}

/** Returns what is wrong with a draft, by field. Everything else the platform knows better. */
export function faultsOfDraft({ name, tokensMax, runsMax }: BudgetDraft): Map<BudgetField, string> {
  const faults = new Map<BudgetField, string>();
  if (name.trim() === '') faults.set('name', 'A budget needs a name: clients that are refused are shown it');
  const typed = { tokensMax, runsMax };
  for (const field of ['tokensMax', 'runsMax'] as const)
    if (readCap(typed[field]) === undefined) faults.set(field, 'Write a whole number, such as 100000');
  if (readCap(tokensMax) === null && readCap(runsMax) === null)
    faults.set('tokensMax', 'A budget caps tokens, runs or both');
  return faults;
}

/** Returns the request that makes a budget of a draft without faults. */
export function creationOf(draft: BudgetDraft): BudgetCreate {
  const { subject, period, mode, refusalStatus: refusal_status } = draft;
  const [tokens, runs] = [readCap(draft.tokensMax), readCap(draft.runsMax)];
  const id = draft.subjectId.trim();
  return {
    name: draft.name.trim(),
    subject,
    ...(canBeOfOne(subject) && id !== '' && { subject_id: id }),
    period,
    ...(tokens && { tokens_max: tokens }),
    ...(runs && { runs_max: runs }),
    mode,
    refusal_status,
  };
}

/** Returns the request that changes a budget to a draft without faults: only what differs. It may be empty. */
export function patchOf(budget: Budget, draft: BudgetDraft): BudgetPatch {
  const after = {
    name: draft.name.trim(),
    tokens_max: readCap(draft.tokensMax) ?? null,
    runs_max: readCap(draft.runsMax) ?? null,
    mode: draft.mode,
    refusal_status: draft.refusalStatus,
  };
  const differs = ([field, value]: [string, unknown]) => budget[field as keyof typeof after] !== value;
  return Object.fromEntries(Object.entries(after).filter(differs));
}
