import { type Field, fieldOf, isSchema, type JsonSchema, Unparsed } from './schema-form-fields.ts';

/** A fault in a value of a form. The path is a JSON Pointer, empty for the whole. */
export interface FieldFault {
  path: string;
  text: string;
}

const DEPTH_MAX = 64;

/** Returns what a schema does not allow in a value. Keywords that a form does not know allow everything. */
export function faultsOf(value: unknown, schema: unknown, root: JsonSchema, path = '', depth = 0): FieldFault[] {
  if (depth > DEPTH_MAX) return [];
  const field = fieldOf(schema, root);
  if (value instanceof Unparsed) {
    return [{ path, text: field.control.kind === 'number' ? 'Must be a number' : 'This is not JSON' }];
  }
  if (value === null && (field.isNullable || field.control.kind === 'json')) return [];
  const fault = (text: string): FieldFault[] => [{ path, text }];
  const below = (name: string | number, inner: unknown, innerSchema: unknown) =>
    faultsOf(inner, innerSchema, root, childPath(path, name), depth + 1);
  const { control } = field;
  switch (control.kind) {
    case 'json':
      return [];
    case 'null':
      return value === null ? [] : fault('Must be null');
    case 'boolean':
      return typeof value === 'boolean' ? [] : fault('Must be true or false');
    case 'enum':
      return control.options.some((option) => isEqual(option, value)) ? [] : fault('Choose one of the values');
    case 'text':
      return typeof value === 'string' ? textFaults(value, field).flatMap(fault) : fault('Must be a text');
    case 'number':
      return typeof value === 'number' ? numberFaults(value, field).flatMap(fault) : fault('Must be a number');
    case 'choice': {
      const all = control.choices.map(({ schema }) => faultsOf(value, schema, root, path, depth + 1));
      if (all.some((faults) => faults.length === 0)) return [];
      // The alternative that is nearest says best what is missing.
      return all.toSorted((a, b) => deepest(b) - deepest(a) || a.length - b.length)[0] ?? [];
    }
    case 'array': {
      if (!Array.isArray(value)) return fault('Must be a list');
      const { minItems, maxItems } = field.schema;
      return [
        ...(typeof minItems === 'number' && value.length < minItems ? fault(`Needs at least ${minItems} entries`) : []),
        ...(typeof maxItems === 'number' && value.length > maxItems ? fault(`Takes at most ${maxItems} entries`) : []),
        ...value.flatMap((item, index) => below(index, item, control.items)),
      ];
    }
    case 'object': {
      if (!isSchema(value)) return fault('Must be an object');
      return control.properties.flatMap(({ name, schema, isRequired }) => {
        const inner = Object.hasOwn(value, name) ? value[name] : undefined;
        if (inner !== undefined) return below(name, inner, schema);
        return isRequired ? [{ path: childPath(path, name), text: 'Is required' }] : [];
      });
    }
  }
}

/** Returns the JSON Pointer of something within what `path` names. */
export function childPath(path: string, name: string | number): string {
  return `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function textFaults(value: string, { schema }: Field): string[] {
  const { minLength, maxLength, pattern } = schema;
  return [
    ...(typeof minLength === 'number' && value.length < minLength ? [`Needs at least ${minLength} characters`] : []),
    ...(typeof maxLength === 'number' && value.length > maxLength ? [`Takes at most ${maxLength} characters`] : []),
    ...(typeof pattern === 'string' && !matches(value, pattern) ? [`Must match ${pattern}`] : []),
  ];
}

/** A pattern that a browser cannot read is left to the graph. */
function matches(value: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return true;
  }
}

function numberFaults(value: number, { schema, control }: Field): string[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  return [
    ...(control.kind === 'number' && control.isInteger && !Number.isInteger(value) ? ['Must be a whole number'] : []),
    ...(typeof minimum === 'number' && value < minimum ? [`Must be at least ${minimum}`] : []),
    ...(typeof maximum === 'number' && value > maximum ? [`Must be at most ${maximum}`] : []),
    ...(typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum
      ? [`Must be more than ${exclusiveMinimum}`]
      : []),
    ...(typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum
      ? [`Must be less than ${exclusiveMaximum}`]
      : []),
  ];
}

function deepest(faults: FieldFault[]): number {
  return Math.max(0, ...faults.map(({ path }) => path.length));
}

/** Compares JSON values. */
function isEqual(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === typeof b && JSON.stringify(a) === JSON.stringify(b));
}
