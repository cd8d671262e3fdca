import { AGENT_SERVER_OPERATIONS } from '@runyard/contracts';
import { requestFields } from '../framework/request-fields.ts';
import { OMISSIONS } from './omissions.ts';
import operations from './operations.json' with { type: 'json' };

/**
 * An operation of other agent servers, with the fields of its requests and its answers, as one of them describes
 * itself.
 */
export interface UpstreamOperation {
  /** Method and path. */
  operation: string;
  fields: string[];
  statuses: number[];
}

export const UPSTREAM: UpstreamOperation[] = operations;

/** Returns what the contract lacks of an operation: itself (`undefined`), or fields and answers. */
export function findMissing({ operation, fields, statuses }: UpstreamOperation): (string | number)[] | undefined {
  const ours = AGENT_SERVER_OPERATIONS.find(
    ({ method, path, access }) => access !== 'internal' && `${method.toUpperCase()} ${path}` === operation,
  );
  if (!ours) return undefined;
  const taken = requestFields(ours);
  return [
    ...fields.filter((field) => !taken.includes(field)),
    ...statuses.filter((status) => !(status in ours.responses)),
  ];
}

/**
 * Returns why a field or an answer of an operation, or the operation itself, is left out; undefined without a reason.
 */
export function findOmissionReason(operation: string, what?: string | number): string | undefined {
  return OMISSIONS.find(
    (omission) =>
      omission.operations.includes(operation) &&
      (what === undefined ? omission.what === undefined : omission.what?.includes(what)),
  )?.why;
}
