import type { A2aStreamEvent } from '@runyard/contracts';
import type { Method } from '../methods/method-table.ts';
import { type A2aError, toHttpErrorBody, toRpcError, toV03HttpErrorBody } from '../protocol/a2a-error.ts';
import { toV03Event } from '../protocol/v03-forms.ts';
import { toV03HttpEvent } from '../protocol/v03-http-forms.ts';
import type { A2aForm } from '../protocol/versions.ts';

export type CallId = string | number;

/** Says how an answer is written, so that another process can go on with it. */
export interface FormName {
  form: A2aForm;
  /** The id of the call, in JSON-RPC. */
  id?: CallId;
  /** The media type of results. Default: JSON. */
  contentType?: string;
}

/** The form in which a binding sends results, events and failures. */
export interface WireForm {
  name: FormName;
  contentType: string;
  result(value: unknown): unknown;
  event(event: A2aStreamEvent): unknown;
  failure(error: A2aError): unknown;
}

const EVENTS: Record<A2aForm, (event: A2aStreamEvent) => unknown> = {
  '1.0': (event) => event,
  '0.3': toV03Event,
  '0.3 HTTP': toV03HttpEvent,
};

export function wireForm(name: FormName, method: Pick<Method, 'resultOf'>): WireForm {
  const { form, id, contentType = 'application/json' } = name;
  const isRpc = id !== undefined;
  const envelope = (result: unknown) => (isRpc ? { jsonrpc: '2.0', id, result } : result);
  return {
    name,
    contentType,
    result: (value) => envelope(method.resultOf[form](value)),
    event: (event) => envelope(EVENTS[form](event)),
    failure: (error) => {
      if (isRpc) return { jsonrpc: '2.0', id, error: toRpcError(error) };
      return form === '1.0' ? toHttpErrorBody(error.status, error.message, error) : toV03HttpErrorBody(error);
    },
  };
}
