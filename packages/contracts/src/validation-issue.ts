import type { ErrorObject } from 'ajv';

/** One fault of a value. */
export interface ValidationIssue {
  /** From the value's root to the faulty place. */
  path: (string | number)[];
  /** Reads after the name of the place: `must be at least 1`. */
  message: string;
  /** The schema keyword that was broken, for example `minimum` or `format`. */
  keyword: string;
  /** What the keyword asked for; of `format` its name. */
  expected?: unknown;
}

export function describeIssue(error: ErrorObject, all: ErrorObject[]): ValidationIssue {
  const path = pathOf(error);
  return { path, keyword: error.keyword, message: messageOf(error, all), expected: error.schema };
}

/** `filters[0].name` for `['filters', 0, 'name']`. */
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
  return path;
}

function messageOf(error: ErrorObject, all: ErrorObject[]): string {
  switch (error.keyword) {
    case 'required':
      return 'is required';
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
  const branches = all.filter((error) => error !== union && error.schemaPath.startsWith(`${union.schemaPath}/`));
  const deeper = branches.filter((error) => error.instancePath.length > union.instancePath.length);
  const closest = deeper.sort((a, b) => b.instancePath.length - a.instancePath.length)[0];
  if (closest) {
    const within = formatPath(pathOf(closest).slice(pathOf(union).length));
    return `is not valid: ${within} ${messageOf(closest, all)}`;
  }
  const literals = branches.flatMap((error) =>
    error.keyword === 'const'
      ? [error.params.allowedValue as unknown]
      : error.keyword === 'enum'
        ? (error.params.allowedValues as unknown[])
        : [],
  );
  const types = branches.flatMap((error) =>
    error.keyword === 'type' && !('const' in (error.parentSchema ?? {})) ? [error.params.type as string] : [],
  );
  const missing = branches.find((error) => error.keyword === 'required');
  const choices = [
    ...(literals.length > 0 ? [`one of ${list(literals)}`] : []),
    ...(types.length > 0 ? [nameTypes([...new Set(types)])] : []),
  ];
  if (choices.length > 0) return `must be ${choices.join(' or ')}`;
  if (missing) return `is not valid: ${missing.params.missingProperty as string} is required`;
  const first = branches[0];
  return first ? messageOf(first, all) : 'is not valid';
}

function nameTypes(types: string | string[]): string {
  return (Array.isArray(types) ? types : [types])
    .map((type) => (type === 'null' ? 'null' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`))
    .join(' or ');
}

function list(values: unknown[]): string {
  return [...new Set(values.map((value) => JSON.stringify(value)))].join(', ');
}
