import { BadRequestError, UnprocessableError } from '@runyard/service-kit';

/** The first label of namespaces that LangGraph keeps for itself. */
const RESERVED_ROOT = 'langgraph';

/** Requires a namespace that can hold an item. @throws BadRequestError, UnprocessableError */
export function requireItemNamespace(labels: string[] | undefined): string[] {
  if (!labels || labels.length === 0) throw new BadRequestError('Namespace cannot be empty.');
  checkLabels(labels);
  if (labels[0] === RESERVED_ROOT) {
    throw new BadRequestError(`Root label for namespace cannot be "${RESERVED_ROOT}".`);
  }
  return labels;
}

/** Checks labels of a namespace or of a part of one. @throws UnprocessableError */
export function checkLabels(labels: string[]): string[] {
  for (const label of labels) {
    if (label === '' || label.includes('.')) {
      throw new UnprocessableError(`Namespace label '${label}' must be a non-empty string without periods`);
    }
  }
  return labels;
}
