import { AGENT_SERVER_ERRORS } from './agent-server.ts';
import { CALLER_ERRORS } from './callers.ts';
import { DEPLOYMENT_ERRORS } from './deployments.ts';
import type { ErrorEntry } from './entry.ts';
import { GATEWAY_ERRORS } from './gateway.ts';
import { INTEGRATION_ERRORS } from './integrations.ts';
import { ORGANIZATION_ERRORS } from './organizations.ts';
import { OVERLOAD_ERRORS } from './overload.ts';
import { PROCESS_ERRORS } from './processes.ts';
import { REQUEST_ERRORS } from './requests.ts';
import { STORAGE_ERRORS } from './storage.ts';

/** The catalogue by topic, in the order of docs/services/errors.md. */
export const ERRORS_BY_TOPIC = {
  'Any request': REQUEST_ERRORS,
  Callers: CALLER_ERRORS,
  Overload: OVERLOAD_ERRORS,
  Storage: STORAGE_ERRORS,
  Processes: PROCESS_ERRORS,
  Gateway: GATEWAY_ERRORS,
  'Agent servers': AGENT_SERVER_ERRORS,
  'Deployments and listeners': DEPLOYMENT_ERRORS,
  'Git servers and OAuth providers': INTEGRATION_ERRORS,
  'Organizations, workspaces and keys': ORGANIZATION_ERRORS,
} satisfies Record<string, Record<string, ErrorEntry>>;

const CATALOGUE = {
  ...REQUEST_ERRORS,
  ...CALLER_ERRORS,
  ...OVERLOAD_ERRORS,
  ...STORAGE_ERRORS,
  ...PROCESS_ERRORS,
  ...GATEWAY_ERRORS,
  ...AGENT_SERVER_ERRORS,
  ...DEPLOYMENT_ERRORS,
  ...INTEGRATION_ERRORS,
  ...ORGANIZATION_ERRORS,
};

type Catalogue = typeof CATALOGUE;

/** The stable name of an error, in logs, metrics and docs. */
export type ErrorCode = keyof Catalogue;

/** The codes of errors that are answered with this status. */
export type ErrorCodeOf<Status extends number> = {
  [Code in ErrorCode]: Catalogue[Code] extends { status: Status } ? Code : never;
}[ErrorCode];

/** The values of the label `reason` of `http_requests_refused_total`. */
export type RefusalReason = Extract<Catalogue[ErrorCode], { refusal: string }>['refusal'];

/** Every error by its code. */
export const ERROR_CATALOGUE: Readonly<Record<ErrorCode, ErrorEntry & { refusal?: RefusalReason }>> = CATALOGUE;
