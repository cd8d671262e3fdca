import { AGENT_SERVER_OPERATIONS, type Operation } from '@runyard/contracts';
import type { ElsewhereCase, ParityCase } from './parity-case.ts';
import { requestFields } from './request-fields.ts';
import { statusOfWrongRequests, wrongRequests } from './wrong-requests.ts';

/** Returns the statuses that tests generated from the contract alone cause. */
export function listGeneratedStatuses(operation: Operation): number[] {
  const hasIds = Object.keys(operation.params?.properties ?? {}).length > 0;
  return [
    ...(wrongRequests(operation).length > 0 ? [statusOfWrongRequests(operation)] : []),
    ...(hasIds && operation.responses[404] ? [404] : []),
  ];
}

export interface ShownBy {
  /** The promise that shows it. */
  promise: string;
  file: string;
}

export interface OperationCoverage {
  operation: Operation;
  /** Cases by field, in the order of the contract; empty where nothing shows it. */
  fields: Map<string, ShownBy[]>;
  /** Cases by documented status. */
  statuses: Map<number, ShownBy[]>;
}

const GENERATED: ShownBy = { promise: 'asked for by requests made from the contract', file: 'statuses.test.ts' };

const shownBy = ({ promise, test }: ElsewhereCase): ShownBy => ({ promise, file: test });

/** Returns, for every operation, which case shows which field and which answer. */
export function computeCoverage(files: { file: string; cases: ParityCase[] }[]): OperationCoverage[] {
  const all = files.flatMap(({ file, cases }) => cases.map((each) => ({ file, ...each })));
  return AGENT_SERVER_OPERATIONS.filter(({ access }) => access !== 'internal').map((operation) => {
    const { operationId } = operation;
    const ofFields = all.filter((each) => each.kind === 'field' && each.operations.includes(operationId));
    const elsewhere = all.flatMap((each) =>
      each.kind === 'elsewhere' && each.operation === operationId ? [each] : [],
    );
    const fields = requestFields(operation).map((field): [string, ShownBy[]] => [
      field,
      [
        ...ofFields.filter((each) => each.kind === 'field' && each.field === field),
        ...elsewhere.filter((each) => each.field === field).map(shownBy),
      ],
    ]);
    const success = Object.keys(operation.responses).map(Number).sort()[0];
    const statuses = Object.keys(operation.responses).map((key): [number, ShownBy[]] => {
      const status = Number(key);
      return [
        status,
        [
          ...all.filter((each) => each.kind === 'status' && each.operation === operationId && each.status === status),
          ...elsewhere.filter((each) => each.status === status).map(shownBy),
          ...(listGeneratedStatuses(operation).includes(status) ? [GENERATED] : []),
          // A case of a field checks every answer against the contract, above all the usual one.
          ...(status === success ? ofFields.slice(0, 1) : []),
        ],
      ];
    });
    return { operation, fields: new Map(fields), statuses: new Map(statuses) };
  });
}
