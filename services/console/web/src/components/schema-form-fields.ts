/** A JSON Schema, as graphs give them for inputs and answers. */
export type JsonSchema = Record<string, unknown>;

interface Choice {
  label: string;
  schema: JsonSchema;
}

interface Property {
  name: string;
  schema: JsonSchema;
  isRequired: boolean;
}

/** The input that a form shows for one schema. `json` takes values that a form cannot express. */
type Control =
  | { kind: 'text'; format: string | undefined }
  | { kind: 'number'; isInteger: boolean }
  | { kind: 'boolean' }
  | { kind: 'enum'; options: unknown[] }
  | { kind: 'object'; properties: Property[] }
  | { kind: 'array'; items: JsonSchema }
  | { kind: 'choice'; choices: Choice[] }
  | { kind: 'null' }
  | { kind: 'json' };

export interface Field {
  control: Control;
  title: string | undefined;
  description: string | undefined;
  /** True where null is a value beside those of the control. */
  isNullable: boolean;
  /** The schema with its references followed, for its bounds. */
  schema: JsonSchema;
}

const REFERENCES_MAX = 32;

/** A typed text that is no value yet: half a number, JSON with a mistake. */
export class Unparsed {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Describes the field for a schema. `root` holds the definitions that it refers to. */
export function fieldOf(given: unknown, root: JsonSchema): Field {
  const schema = resolve(given, root);
  const { schema: bare, isNullable } = withoutNull(schema, root);
  return {
    control: controlOf(bare, root),
    title: text(schema.title) ?? text(bare.title),
    description: text(schema.description) ?? text(bare.description),
    isNullable,
    schema: bare,
  };
}

/** Follows references, and joins what `allOf` says of an object. A reference that leads nowhere allows anything. */
function resolve(given: unknown, root: JsonSchema, depth = 0): JsonSchema {
  let schema = asSchema(given);
  for (let followed = 0; typeof schema.$ref === 'string'; followed += 1) {
    if (followed === REFERENCES_MAX) return {};
    const { $ref, ...beside } = schema;
    schema = { ...find(String($ref), root), ...beside };
  }
  return Array.isArray(schema.allOf) && depth < REFERENCES_MAX ? joined(schema, root, depth + 1) : schema;
}

/** Returns the value that a form begins with: defaults, and what is required and has one value only. */
export function initialValue(given: unknown, root: JsonSchema): unknown {
  const schema = resolve(given, root);
  if ('default' in schema) return schema.default;
  const { control, isNullable } = fieldOf(schema, root);
  if (isNullable) return null;
  switch (control.kind) {
    case 'object':
      return initialObject(control.properties, root);
    case 'array':
      return [];
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'enum':
      return control.options.length === 1 ? control.options[0] : undefined;
    case 'choice':
      return initialValue(control.choices[0]?.schema, root);
    default:
      return undefined;
  }
}

function initialObject(properties: Property[], root: JsonSchema): Record<string, unknown> {
  const entries = properties.flatMap(({ name, schema, isRequired }) => {
    const hasDefault = 'default' in resolve(schema, root);
    const value = isRequired || hasDefault ? initialValue(schema, root) : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

function controlOf(schema: JsonSchema, root: JsonSchema): Control {
  if ('const' in schema) return { kind: 'enum', options: [schema.const] };
  if (Array.isArray(schema.enum)) return { kind: 'enum', options: schema.enum };
  const among = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(among)) return choiceOf(among, root);
  const { type } = schema;
  if (Array.isArray(type))
    return choiceOf(
      type.map((each) => ({ ...schema, type: each })),
      root,
    );
  if (type === 'string') return { kind: 'text', format: text(schema.format) };
  if (type === 'number' || type === 'integer') return { kind: 'number', isInteger: type === 'integer' };
  if (type === 'boolean' || type === 'null') return { kind: type };
  if (type === 'array' && isSchema(schema.items)) return { kind: 'array', items: schema.items };
  if ((type === undefined || type === 'object') && isSchema(schema.properties)) {
    return { kind: 'object', properties: propertiesOf(schema) };
  }
  return { kind: 'json' };
}

function propertiesOf(schema: JsonSchema): Property[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(asSchema(schema.properties)).map(([name, property]) => ({
    name,
    schema: asSchema(property),
    isRequired: required.has(name),
  }));
}

function choiceOf(among: unknown[], root: JsonSchema): Control {
  const schemas = among.map((each) => resolve(each, root));
  const constants = schemas.map((schema) => ('const' in schema ? [schema.const] : schema.enum));
  // `oneOf` of constants is how descriptions of single values are written.
  if (constants.every((each) => Array.isArray(each))) return { kind: 'enum', options: constants.flat() };
  if (schemas.length === 1) return controlOf(schemas[0]!, root);
  return {
    kind: 'choice',
    choices: schemas.map((schema, index) => ({ schema, label: labelOf(schema) ?? `Form ${index + 1}` })),
  };
}

function labelOf(schema: JsonSchema): string | undefined {
  const { title, type, properties } = schema;
  // Alternatives that differ in the constant of a property are called by it.
  const constants = Object.values(asSchema(properties)).flatMap((property) =>
    isSchema(property) && 'const' in property ? [String(property.const)] : [],
  );
  return text(title) ?? (constants.length > 0 ? constants.join(', ') : text(type));
}

/** Takes null out of the values that a schema allows. */
function withoutNull(schema: JsonSchema, root: JsonSchema): { schema: JsonSchema; isNullable: boolean } {
  const { type } = schema;
  if (Array.isArray(type) && type.includes('null')) {
    const others = type.filter((each) => each !== 'null');
    const enumerated = Array.isArray(schema.enum) && { enum: schema.enum.filter((each) => each !== null) };
    return {
      schema: { ...schema, type: others.length === 1 ? others[0] : others, ...enumerated },
      isNullable: true,
    };
  }
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const among = schema[keyword];
    if (!Array.isArray(among)) continue;
    const others = among.filter((each) => resolve(each, root).type !== 'null');
    if (others.length === among.length) continue;
    const { [keyword]: _, ...beside } = schema;
    if (others.length !== 1) return { schema: { ...beside, [keyword]: others }, isNullable: true };
    return { schema: { ...resolve(others[0], root), ...beside }, isNullable: true };
  }
  return { schema, isNullable: schema.nullable === true };
}

function joined({ allOf, ...beside }: JsonSchema, root: JsonSchema, depth: number): JsonSchema {
  const parts = [...(allOf as unknown[]).map((part) => resolve(part, root, depth)), beside];
  const all = Object.assign({}, ...parts) as JsonSchema;
  const required = parts.flatMap((part) => (Array.isArray(part.required) ? (part.required as unknown[]) : []));
  const properties = Object.assign({}, ...parts.map((part) => asSchema(part.properties))) as JsonSchema;
  return {
    ...all,
    ...(required.length > 0 && { required }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
}

/** Returns what `#/definitions/Name` and the like name. */
function find(reference: string, root: JsonSchema): JsonSchema {
  if (!reference.startsWith('#')) return {};
  let found: unknown = root;
  for (const part of reference.slice(1).split('/').filter(Boolean)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return {};
    found = (found as Record<string, unknown>)[key];
  }
  return asSchema(found);
}

/** Returns whether something is a schema of which a form can be made at all. */
export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asSchema(value: unknown): JsonSchema {
  return isSchema(value) ? value : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
