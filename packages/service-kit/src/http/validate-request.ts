import { parse as parseForm } from 'node:querystring';
import {
  formatPath,
  normalizeQuery,
  type Operation,
  type ValidationIssue,
  type Validator,
  validatorOf,
} from '@runyard/contracts';
import type { TSchema } from 'typebox';
import { UnprocessableError } from '../errors.ts';

/**
 * The form of faults in the answer: `text` is one sentence per fault in `detail`, `list` an array of `{loc, msg,
 * type}`.
 */
export type ValidationErrorStyle = 'text' | 'list';

type Place = 'path' | 'query' | 'body';

/** Validates the requests of one operation; compiled before its first request. */
export class RequestValidator {
  readonly #params: Validator<unknown> | undefined;
  readonly #query: Validator<unknown> | undefined;
  readonly #body: Validator<unknown> | undefined;
  readonly #operation: Operation;
  readonly #style: ValidationErrorStyle;
  /** Names of path parameters that are UUIDs. */
  readonly #uuids: string[];

  constructor(operation: Operation, style: ValidationErrorStyle) {
    const compile = (schema: TSchema | undefined, coerce: boolean) =>
      schema && validatorOf(schema, { coerce, allIssues: style === 'list' });
    this.#params = compile(operation.params, true);
    this.#query = compile(operation.query, true);
    this.#body = compile(operation.body, false);
    this.#operation = operation;
    this.#style = style;
    const parameters: Record<string, { format?: string }> = operation.params?.properties ?? {};
    this.#uuids = Object.keys(parameters).filter((name) => parameters[name]?.format === 'uuid');
  }

  get takesBody(): boolean {
    return this.#body !== undefined;
  }

  /** UUIDs are in small letters from here on, as databases return them: what is named by one has one name. */
  params(values: Record<string, string>): unknown {
    if (!this.#params) return values;
    const ids = this.#uuids.flatMap((name) => (name in values ? [[name, values[name]!.toLowerCase()]] : []));
    return this.#accept('path', this.#params({ ...values, ...Object.fromEntries(ids) }));
  }

  query(values: Record<string, string | string[] | undefined>): unknown {
    if (!this.#query) return {};
    return this.#accept('query', this.#query(normalizeQuery(this.#operation.query, values)));
  }

  /** Validates the body's bytes, whatever their content type. */
  body(bytes: Buffer): unknown {
    if (!this.#body) return undefined;
    const isForm = this.#operation.bodyType === 'application/x-www-form-urlencoded';
    // A form without fields has no bytes.
    const value = isForm ? fieldsOf(bytes) : bytes.length === 0 ? undefined : this.#parse(bytes);
    const absent = value === undefined || (value === null && this.#operation.bodyOptional === true);
    if (absent && !this.#operation.bodyOptional) throw this.#missingBody();
    return this.#accept('body', this.#body(absent ? {} : value));
  }

  #parse(bytes: Buffer): unknown {
    try {
      return JSON.parse(bytes.toString('utf8'));
    } catch (cause) {
      if (this.#style === 'text') throw new UnprocessableError('Invalid JSON in request body', { cause });
      throw listError([{ loc: ['body'], msg: 'Invalid JSON in request body', type: 'json_invalid' }], cause);
    }
  }

  #missingBody(): UnprocessableError {
    if (this.#style === 'text') return new UnprocessableError('Invalid JSON in request body');
    return listError([{ loc: ['body'], msg: 'Field required', type: 'missing' }]);
  }

  #accept(place: Place, result: { ok: true; value: unknown } | { ok: false; issues: ValidationIssue[] }): unknown {
    if (result.ok) return result.value;
    if (this.#style === 'list') {
      throw listError(
        result.issues.map((issue) => ({
          loc: [place, ...issue.path],
          msg: issue.keyword === 'required' ? 'Field required' : `Value ${issue.message}`,
          type: errorType(issue),
        })),
      );
    }
    throw new UnprocessableError(result.issues.map((issue) => sentence(place, issue)).join('; '));
  }
}

/** Reads the fields of a form; at most 1,000 of them, which bounds the work. */
function fieldsOf(bytes: Buffer): Record<string, string | string[] | undefined> {
  return { ...parseForm(bytes.toString('utf8')) };
}

/** Clients of the control plane know `missing`, `extra_forbidden` and `uuid_parsing`. */
function errorType(issue: ValidationIssue): string {
  if (issue.keyword === 'required') return 'missing';
  if (issue.keyword === 'additionalProperties') return 'extra_forbidden';
  return issue.keyword === 'format' && issue.expected === 'uuid' ? 'uuid_parsing' : `${issue.keyword}_error`;
}

function sentence(place: Place, issue: ValidationIssue): string {
  const name = formatPath(issue.path);
  if (place === 'path') {
    const label = name.replace(/_id$/, ' ID').replaceAll('_', ' ');
    return issue.keyword === 'format' && issue.expected === 'uuid'
      ? `Invalid ${label}: must be a UUID`
      : `Invalid ${label}: ${issue.message}`;
  }
  if (name === '') return `Request ${place} ${issue.message}`;
  return `${place === 'query' ? 'Query parameter ' : ''}${name} ${issue.message}`;
}

function listError(
  detail: { loc: (string | number)[]; msg: string; type: string }[],
  cause?: unknown,
): UnprocessableError {
  const message = detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
  return new UnprocessableError(message, { body: { detail }, ...(cause === undefined ? {} : { cause }) });
}
