import type { ErrorObject } from 'ajv';

/** One fault of a value. */
export interface ValidationIssue {
  /** Path from the value's root to the fault. */
  path: (string | number)[];
  /** Continues the sentence that begins with the place: `must be at least 1`. */
  message: string;
  /** The schema keyword that was violated, for example `minimum` or `format`. */
  keyword: string;
  /** The value of the keyword; the name of a `format`. */
  expected?: unknown;
}

export function describeIssue(error: ErrorObject, all: ErrorObject[]): ValidationIssue {
  const path = pathOf(error);
  return { path, keyword: error.keyword, message: messageOf(error, all), expected: error.schema };
}

/** Formats a path: `['filters', 0, 'name']` becomes `filters[0].name`. */
export function formatPath(path: (string | number)[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}

function pathOf(error: ErrorObject): (string | number)[] {
  const path: (string | number)[] = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  if (error.keyword === 'required') path.push(error.params.missingProperty as string);
  if (error.keyword === 'additionalProperties') path.push(error.params.additionalProperty as string);
  return path;
}

function messageOf(error: ErrorObject, all: ErrorObject[]): string {
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'minimum':
      return `must be at least ${error.params.limit}`;
    case 'maximum':
      return `must be at most ${error.params.limit}`;
    case 'type':
      return `must be ${nameTypes(error.params.type as string | string[])}`;
    case 'const':
      return `must be ${JSON.stringify(error.params.allowedValue)}`;
    case 'enum':
      return `must be one of ${list(error.params.allowedValues as unknown[])}`;
    case 'format':
      return `must be a valid ${error.params.format === 'uuid' ? 'UUID' : error.params.format}`;
    case 'minLength':
      return error.params.limit === 1 ? 'must not be empty' : `must have at least ${error.params.limit} characters`;
    case 'minItems':
      return error.params.limit === 1 ? 'must not be empty' : `must have at least ${error.params.limit} items`;
    case 'anyOf':
    case 'oneOf':
      return unionMessage(error, all);
    default:
      return error.message ?? 'is not valid';
  }
}

function unionMessage(union: ErrorObject, all: ErrorObject[]): string {
  const inside = all.filter((error) => error !== union && error.schemaPath.startsWith(`${union.schemaPath}/`));
  // The deepest branch is probably the intended one; its outermost error says most.
  const [furthest] = inside
    .filter((error) => error.instancePath.length > union.instancePath.length)
    .sort((a, b) => b.instancePath.length - a.instancePath.length || a.schemaPath.length - b.schemaPath.length);
  if (furthest) {
    const within = formatPath(pathOf(furthest).slice(pathOf(union).length));
    return `is not valid: ${within} ${messageOf(furthest, all)}`;
  }
  const literals = inside.flatMap(literalsOf);
  const others = inside
    .filter((error) => literalsOf(error).length === 0 && !('const' in (error.parentSchema ?? {})))
    .map((error) => messageOf(error, all));
  const choices = [
    ...(literals.length > 0 ? [`one of ${list(literals)}`] : []),
    ...others.filter((message) => message.startsWith('must be ')).map((message) => message.slice('must be '.length)),
  ];
  if (choices.length > 0) return `must be ${[...new Set(choices)].join(' or ')}`;
  const missing = inside.find((error) => error.keyword === 'required');
  if (missing) return `is not valid: ${missing.params.missingProperty as string} is required`;
  return others[0] ?? 'is not valid';
}

function literalsOf(error: ErrorObject): unknown[] {
  if (error.keyword === 'const') return [error.params.allowedValue];
  return error.keyword === 'enum' ? (error.params.allowedValues as unknown[]) : [];
}

function nameTypes(types: string | string[]): string {
  return (Array.isArray(types) ? types : [types])
    .map((type) => (type === 'null' ? 'null' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`))
    .join(' or ');
}

function list(values: unknown[]): string {
  return [...new Set(values.map((value) => JSON.stringify(value)))].join(', ');
}
