import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Static, TObject, TSchema } from 'typebox';
import { LITERAL_KEYWORDS, NAMED_SCHEMAS } from './schema-components.ts';
import { descendIntoUnions, isUnion } from './union-members.ts';
import { describeIssue, type ValidationIssue } from './validation-issue.ts';

/**
 * The result of checking a value against a schema of this package. Each schema is compiled once per way of use.
 *
 * A validator fills in defaults. It refuses unknown keys where a schema says `additionalProperties: false`; elsewhere
 * they stay and must be ignored. It changes the value it is given: callers pass a value that nobody else holds.
 */
type Validated<T> = { ok: true; value: T } | { ok: false; issues: ValidationIssue[] };
export type Validator<T> = (value: unknown) => Validated<T>;

export interface ValidatorOptions {
  /**
   * True when to convert text to numbers and booleans where the schema needs them: for paths, queries and environment
   * variables.
   */
  coerce?: boolean;
  /**
   * True when to report every issue instead of the first. This costs memory in proportion to the faults of the value.
   */
  allIssues?: boolean;
}

/** Stricter than the usual `uuid` format, which also accepts `urn:uuid:`. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

const compilers = new Map<string, Ajv2020>();
const compiled = new Map<string, WeakMap<TSchema, ValidateFunction>>();

/**
 * Returns the validator of a schema. It is compiled for the first value, so that a starting service need not wait for
 * all of its validators.
 */
export function validatorOf<T extends TSchema>(schema: T, options: ValidatorOptions = {}): Validator<Static<T>> {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= compile(schema, options);
    if (validate(value)) return { ok: true, value: value as Static<T> };
    return { ok: false, issues: summarize(validate.errors ?? [], options) };
  };
}

/** Returns whether the value matches the schema. Only defaults change the value. */
export function conforms<T extends TSchema>(schema: T, value: unknown): value is Static<T> {
  return compile(schema, {})(value) as boolean;
}

/** Returns which query parameters may be repeated; of any other the last one wins. */
function classifyRepetition(schema: TSchema | undefined): 'always' | 'sometimes' | 'never' {
  const { type, anyOf } = (schema ?? {}) as { type?: string; anyOf?: TSchema[] };
  if (type === 'array') return 'always';
  return anyOf?.some((branch) => classifyRepetition(branch) !== 'never') ? 'sometimes' : 'never';
}

/** Converts parsed query parameters to the form of their schema: lists where it has lists, single values elsewhere. */
export function normalizeQuery(
  schema: TObject | undefined,
  query: Record<string, string | string[] | undefined>,
): Record<string, unknown> {
  const properties = (schema?.properties ?? {}) as Record<string, TSchema>;
  const arranged: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || !Object.hasOwn(properties, name)) continue;
    const lists = classifyRepetition(properties[name]);
    if (Array.isArray(value)) arranged[name] = lists === 'never' ? value.at(-1) : value;
    else arranged[name] = lists === 'always' ? [value] : value;
  }
  return arranged;
}

function compile(schema: TSchema, options: ValidatorOptions): ValidateFunction {
  const use = `${options.coerce === true}/${options.allIssues === true}`;
  let ofThisUse = compiled.get(use);
  if (!ofThisUse) {
    ofThisUse = new WeakMap();
    compiled.set(use, ofThisUse);
  }
  let validate = ofThisUse.get(schema);
  if (!validate) {
    validate = compilerFor(use, options).compile(withoutIds(schema, false) as object);
    ofThisUse.set(schema, validate);
  }
  return validate;
}

function compilerFor(use: string, options: ValidatorOptions): Ajv2020 {
  let compiler = compilers.get(use);
  if (!compiler) {
    compiler = new Ajv2020({
      strict: false,
      verbose: true,
      useDefaults: true,
      coerceTypes: options.coerce ?? false,
      allErrors: options.allIssues ?? false,
      // The platform's own schemas are not validated: that takes longer than compiling all schemas at a service's
      // start.
      validateSchema: false,
      meta: false,
      // Optimized code is no faster here, and takes more than twice as long to make.
      code: { optimize: false },
    });
    addFormats.default(compiler);
    compiler.addFormat('uuid', UUID);
    compilers.set(use, compiler);
  }
  return compiler;
}

/**
 * A schema's `$id` names its component in the documents, but the compiler rejects two schemas that embed the same
 * component. Inside `$defs` ids stay, because recursive schemas refer to them.
 */
function withoutIds(schema: unknown, keepId: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withoutIds(item, false));
  if (schema === null || typeof schema !== 'object') return schema;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$id' && !keepId) continue;
    if (LITERAL_KEYWORDS.has(key)) copy[key] = value;
    else if (NAMED_SCHEMAS.has(key))
      copy[key] = mapValues(value as object, (each) => withoutIds(each, key === '$defs'));
    else copy[key] = withoutIds(value, false);
  }
  return copy;
}

function mapValues(record: object, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

function summarize(errors: ErrorObject[], { allIssues }: ValidatorOptions): ValidationIssue[] {
  const reported = allIssues
    ? descendIntoUnions(errors)
    : outermost(errors).map((error) => ({ error, inside: errors }));
  const seen = new Set<string>();
  return reported
    .map(({ error, inside }) => describeIssue(error, inside))
    .filter((issue) => {
      const key = `${issue.path.join('/')} ${issue.message}`;
      return seen.has(key) ? false : seen.add(key);
    });
}

/** A union reports each branch it tried and then itself; its own line says enough. */
function outermost(errors: ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(isUnion);
  return errors.filter(
    (error) => !unions.some((union) => union !== error && error.schemaPath.startsWith(`${union.schemaPath}/`)),
  );
}
