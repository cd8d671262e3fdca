import { type Fields, isFields } from '../../http/fields.ts';

/** The input of a tool. */
export interface ToolInput {
  /** A JSON schema of an object. */
  schema: Fields;
  /** True when `messages` is one text, which becomes a message of the user. */
  hasText: boolean;
}

const DEFINITIONS = ['$defs', 'definitions'] as const;
const TEXT = { type: 'string', description: 'The message to the assistant.' };

/** Returns the input of a tool, by the schema of its graph's input; undefined when that is no object. */
export function toolInput(graphSchema: Fields): ToolInput | undefined {
  const schema = withoutReference(graphSchema);
  if (schema.type !== undefined && schema.type !== 'object') return undefined;
  const { properties } = schema;
  if (!isFields(properties) || !isFields(properties.messages) || properties.messages.type === 'string') {
    return { schema: { ...schema, type: 'object' }, hasText: false };
  }
  const required = Array.isArray(schema.required) ? schema.required : [];
  const shrunk = {
    ...schema,
    type: 'object',
    properties: { ...properties, messages: TEXT },
    required: [...new Set([...required, 'messages'])],
  };
  return { schema: withoutUnused(shrunk), hasText: true };
}

/** Returns the input of a run for the arguments of a call. A text is a message where the schema is not known. */
export function toGraphInput(args: Fields, input: Pick<ToolInput, 'hasText'> | undefined): Fields {
  if (input?.hasText === false || typeof args.messages !== 'string') return args;
  return { ...args, messages: [{ type: 'human', content: args.messages }] };
}

/**
 * Returns the schema of a tool's output. It names the fields and says what they are for, and no more: clients refuse a
 * result that breaks the schema, and graphs may put into their state what its types do not say.
 */
export function toolOutput(graphSchema: Fields): Fields {
  const { properties } = withoutReference(graphSchema);
  const named = isFields(properties) ? Object.entries(properties) : [];
  return {
    type: 'object',
    properties: Object.fromEntries(named.map(([name, property]) => [name, annotationsOf(property)])),
  };
}

function annotationsOf(property: unknown): Fields {
  const { title, description } = isFields(property) ? property : {};
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  };
}

/** Replaces a schema that is a reference to one of its definitions by that definition. */
function withoutReference(schema: Fields): Fields {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== 'string') return schema;
  for (const place of DEFINITIONS) {
    const definitions = schema[place];
    const name = $ref.startsWith(`#/${place}/`) ? $ref.slice(place.length + 3) : '';
    if (isFields(definitions) && isFields(definitions[name])) return { ...rest, ...definitions[name] };
  }
  return schema;
}

/** Leaves out the definitions that were those of messages alone: they are large. */
function withoutUnused(schema: Fields): Fields {
  const { $defs, definitions, ...rest } = schema;
  const all: Fields = { ...(isFields(definitions) && definitions), ...(isFields($defs) && $defs) };
  const used = new Set<string>();
  const open: unknown[] = [rest];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    for (const name of referencesIn(part)) {
      if (used.has(name) || !Object.hasOwn(all, name)) continue;
      used.add(name);
      open.push(all[name]);
    }
  }
  const kept = Object.fromEntries(
    DEFINITIONS.flatMap((place) => {
      const own = schema[place];
      const entries = isFields(own) ? Object.entries(own).filter(([name]) => used.has(name)) : [];
      return entries.length > 0 ? [[place, Object.fromEntries(entries)]] : [];
    }),
  );
  return { ...rest, ...kept };
}

function referencesIn(schema: unknown): string[] {
  const found = JSON.stringify(schema)?.matchAll(/"\$ref":"#\/(?:\$defs|definitions)\/([^"/]+)"/g) ?? [];
  return [...found].map(([, name]) => name!);
}
