import type { TSchema } from 'typebox';
import type { MessageForm } from '../messages/message.ts';

interface Described {
  type?: string;
  title?: string;
  description?: string;
  const?: unknown;
  anyOf?: Described[];
  items?: Described | Described[];
  additionalItems?: boolean;
  properties?: Record<string, Described>;
  patternProperties?: Record<string, Described>;
  required?: string[];
  pattern?: string;
}

/** Returns a table of messages: fields, answer, raw bytes and meaning of each. */
export function describeMessages(messages: Record<string, MessageForm>): string {
  const rows = Object.entries(messages).map(([type, { header, answer, raw, answerRaw, means }]) => {
    const { t: _type, id: _id, ...fields } = (header as Described).properties ?? {};
    const sent = [`\`${type}\``, fieldsOf({ ...header, properties: fields } as Described), raw && `raw: ${raw}`];
    const answered = answer === undefined ? ['notice'] : [formOf(answer, true), answerRaw && `raw: ${answerRaw}`];
    return [sent.filter(Boolean).join(' '), answered.filter(Boolean).join('; '), means];
  });
  return table(['type and fields', 'answered with', 'means'], rows);
}

/** Returns a table of the forms that messages name, each with its fields. */
export function describeForms(messages: Record<string, MessageForm>[]): string {
  const forms = new Map<string, Described>();
  for (const { header, answer } of messages.flatMap((each) => Object.values(each))) {
    collect(header, forms);
    if (answer) collect(answer, forms);
  }
  const rows = [...forms].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([title, form]) => rowsOf(title, form));
  return table(['form', 'holds', ''], rows);
}

function rowsOf(title: string, form: Described): string[][] {
  const name = `\`${title}\``;
  const fields = Object.entries(form.properties ?? {});
  if (fields.length === 0) return [[name, formOf(withoutTitle(form), false), form.description ?? '']];
  return [
    ...(form.description === undefined ? [] : [[name, '', form.description]]),
    ...fields.map(([field, schema], index) => [
      index === 0 && form.description === undefined ? name : '',
      `${nameOf(field, form)}: ${formOf(schema, false)}`,
      schema.description ?? '',
    ]),
  ];
}

/** Collects the forms with a title, those inside of others too. */
function collect(schema: TSchema | Described, forms: Map<string, Described>): void {
  const described = schema as Described;
  if (described.title !== undefined && !forms.has(described.title)) forms.set(described.title, described);
  for (const inner of innerOf(described)) collect(inner, forms);
}

function innerOf({ anyOf = [], items = [], properties = {}, patternProperties = {} }: Described): Described[] {
  return [...anyOf, ...[items].flat(), ...Object.values(properties), ...Object.values(patternProperties)];
}

function fieldsOf(form: Described): string {
  const fields = Object.entries(form.properties ?? {});
  return fields.length === 0
    ? ''
    : `{${fields.map(([name, field]) => `${nameOf(name, form)}: ${formOf(field, false)}`).join(', ')}}`;
}

function nameOf(field: string, { required = [] }: Described): string {
  return required.includes(field) ? field : `${field}?`;
}

/** @param isNoted true to add the description */
function formOf(schema: TSchema | Described, isNoted: boolean): string {
  const described = schema as Described;
  const note = isNoted && described.description !== undefined ? `: ${described.description}` : '';
  return bareFormOf(described) + note;
}

function bareFormOf(schema: Described): string {
  if (schema.title !== undefined) return schema.title;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.anyOf) return schema.anyOf.map(bareFormOf).join(' or ');
  if (schema.type === 'array') return listOf(schema);
  if (schema.properties) return fieldsOf(schema);
  const [values] = Object.values(schema.patternProperties ?? {});
  if (values) return `map of ${bareFormOf(values)}`;
  return schema.type ?? 'any JSON';
}

function listOf({ items = {} }: Described): string {
  return Array.isArray(items) ? `[${items.map(bareFormOf).join(', ')}]` : `list of ${bareFormOf(items)}`;
}

function withoutTitle({ title: _title, ...form }: Described): Described {
  return form;
}

function table(heads: string[], rows: string[][]): string {
  const line = (texts: string[]) => `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}
