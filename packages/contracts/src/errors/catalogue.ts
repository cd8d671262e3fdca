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
import { SCIM_ERRORS } from './scim.ts';
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
  SCIM: SCIM_ERRORS,
} satisfies Record<string, Record<string, ErrorEntry>>;

type Topic = (typeof ERRORS_BY_TOPIC)[keyof typeof ERRORS_BY_TOPIC];
type KeyOfEach<T> = T extends unknown ? keyof T : never;

/** The stable name of an error, in logs, metrics and docs. */
export type ErrorCode = KeyOfEach<Topic>;

type EntryOf<Code extends ErrorCode> = Extract<Topic, Record<Code, unknown>>[Code];

/** The codes of errors that are answered with this status. */
export type ErrorCodeOf<Status extends number> = {
  [Code in ErrorCode]: EntryOf<Code> extends { status: Status } ? Code : never;
}[ErrorCode];

/** The values of the label `reason` of `http_requests_refused_total`. */
export type RefusalReason = Extract<{ [Code in ErrorCode]: EntryOf<Code> }[ErrorCode], { refusal: string }>['refusal'];

/** Every error by its code. */
export const ERROR_CATALOGUE: Readonly<Record<ErrorCode, ErrorEntry & { refusal?: RefusalReason }>> = Object.assign(
  {},
  ...Object.values(ERRORS_BY_TOPIC),
);
