import type { Operation } from '@runyard/contracts';
import { type HandlerRequest, noContent, type Reply } from '@runyard/service-kit';
import { type Fields, isFields } from '../../http/fields.ts';
import type { OpenResponses } from '../../streams/open-responses.ts';
import type { Call } from '../methods/access.ts';
import type { Method } from '../methods/method-table.ts';
import type { Outcome } from '../methods/outcome.ts';
import { A2aError } from '../protocol/a2a-error.ts';
import { camelKeys, optionalText } from '../protocol/read-fields.ts';
import { type A2aVersion, requestedVersion } from '../protocol/versions.ts';
import { activateExtensions } from './activate-extensions.ts';
import { sendOutcome } from './send-outcome.ts';
import { tenantInPath } from './tenants.ts';
import { toA2aError } from './to-a2a-error.ts';
import { type FormName, type WireForm, wireForm } from './wire-form.ts';

type Params = { assistant_id: string; task_id?: string; config_id?: string };
export type RestRequest = HandlerRequest<Params, unknown, unknown>;

/** A version of HTTP+JSON. */
export interface RestBinding {
  version: A2aVersion;
  formName(req: RestRequest): FormName;
}

/** An operation, its method, and how a request says the method's parameters. */
export interface RestMethod {
  operation: Operation;
  method: Method;
  toParams: (req: RestRequest) => Fields;
}

/** Answers a request by a method; its parameters are read from the request. */
export async function answerRest(
  { version, formName }: RestBinding,
  { operation, method, toParams }: RestMethod,
  req: RestRequest,
  open: OpenResponses,
): Promise<Reply | undefined> {
  const form = wireForm(formName(req), method);
  return answerInForm(form, req, open, async () => {
    requireVersion(req, version);
    activateExtensions(req);
    const params = toParams(req);
    return method.run({ ...callOf(req, version, params), creation: { operation, request: req } }, params);
  });
}

/** Sends what `run` resolves with, or its failure if that is one of A2A. */
export async function answerInForm(
  form: WireForm,
  req: RestRequest,
  open: OpenResponses,
  run: () => Promise<Outcome>,
): Promise<Reply | undefined> {
  try {
    return await sendOutcome(await run(), form, req, open);
  } catch (error) {
    const failure = toA2aError(error);
    if (!failure) throw error;
    return { status: failure.status, body: form.failure(failure) };
  }
}

/** Answers a deletion: it has no body. */
export function withoutBody(reply: Reply | undefined): Reply | undefined {
  return reply?.status === 200 ? noContent() : reply;
}

export function callOf(req: RestRequest, version: A2aVersion, params: Fields): Call {
  const tenant = tenantInPath(req.raw) ?? optionalText(params, 'tenant', 'params');
  return { assistant: req.params.assistant_id, request: req, version, tenant };
}

/** The paths of a version are its own: a request that names none means it. @throws A2aError */
function requireVersion({ headers, raw }: RestRequest, version: A2aVersion): void {
  const requested = requestedVersion(headers, raw.url) ?? version;
  if (requested === version) return;
  const where = requested === '0.3' ? 'below /v1' : 'at the paths without /v1';
  throw new A2aError('VERSION_NOT_SUPPORTED', `Version ${requested} of HTTP+JSON is spoken ${where}`);
}

export function bodyOf({ body }: RestRequest): Fields {
  return isFields(body) ? camelKeys(body) : {};
}

/** Reads the query with names in either case, of which the contract has one. */
export function queryOf({ raw }: RestRequest): Fields {
  const at = raw.url.indexOf('?');
  return at < 0 ? {} : camelKeys(Object.fromEntries(new URLSearchParams(raw.url.slice(at + 1))));
}

export function getOf(req: RestRequest): Fields {
  return { ...queryOf(req), id: req.params.task_id };
}

/** A query may name a tenant. */
export function taskOf(req: RestRequest): Fields {
  return { tenant: queryOf(req).tenant, id: req.params.task_id };
}

export function configOf(req: RestRequest): Fields {
  const { task_id: taskId, config_id: id } = req.params;
  return { tenant: queryOf(req).tenant, taskId, id };
}
