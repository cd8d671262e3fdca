import { type Fields, isFields } from '../../http/fields.ts';

/** An interrupt of a run, as its values have it. */
export interface Interrupt {
  id: string;
  value: unknown;
  response_schema?: unknown;
}

/** An interrupt as a question to the user. */
export interface Question {
  /** Names the question in one result. */
  key: string;
  interruptId: string;
  /** Parameters of `elicitation/create`. */
  params: { mode: 'form'; message: string; requestedSchema: Fields };
  /** True when the graph gets a text; else it gets what the form has. */
  isText: boolean;
}

/** The reaction of the user: an answer for the graph, nothing valid yet, or a refusal that ends the call. */
export type UserAnswer = { kind: 'given'; value: unknown } | { kind: 'missing' } | { kind: 'refused' };

const MISSING: UserAnswer = { kind: 'missing' };
const KEY = /^[A-Za-z0-9_.-]{1,64}$/;
const SCALARS: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);
const ANSWER_FORM = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
};

/** Returns the interrupts that a graph waits at; none for one that has ended. */
export function interruptsIn(values: unknown): Interrupt[] {
  const interrupts = isFields(values) ? values.__interrupt__ : undefined;
  if (!Array.isArray(interrupts)) return [];
  return interrupts.filter(isFields).map((interrupt, index) => ({
    ...interrupt,
    id: typeof interrupt.id === 'string' ? interrupt.id : String(index),
    value: interrupt.value,
  }));
}

export function questionsOf(interrupts: readonly Interrupt[]): Question[] {
  const taken = new Set<string>();
  return interrupts.map((interrupt) => {
    const form = formOf(interrupt);
    return {
      key: keyOf(interrupt, taken),
      interruptId: interrupt.id,
      params: { mode: 'form', message: messageOf(interrupt.value), requestedSchema: form ?? ANSWER_FORM },
      isText: form === undefined,
    };
  });
}

/** Reads an answer of a client: the result of `elicitation/create`. */
export function readAnswer(response: unknown, { params, isText }: Question): UserAnswer {
  if (!isFields(response)) return MISSING;
  const { action, content } = response;
  if (action === 'decline' || action === 'cancel') return { kind: 'refused' };
  if (action !== 'accept' || !isFields(content)) return MISSING;
  const { required } = params.requestedSchema;
  const isComplete = !Array.isArray(required) || required.every((name) => Object.hasOwn(content, String(name)));
  if (!isComplete) return MISSING;
  if (!isText) return { kind: 'given', value: content };
  return typeof content.answer === 'string' ? { kind: 'given', value: content.answer } : MISSING;
}

/** Returns what the graph is resumed with: one answer as it is, several by their interrupts. */
export function resumeWith(interrupts: readonly Pick<Interrupt, 'id'>[], answers: Fields): unknown {
  const [only, ...others] = interrupts;
  if (only && others.length === 0) return answers[only.id];
  return Object.fromEntries(interrupts.map(({ id }) => [id, answers[id]]));
}

/** The graph may name its question, with `key` in the value of the interrupt. */
function keyOf({ id, value }: Interrupt, taken: Set<string>): string {
  const named = isFields(value) && typeof value.key === 'string' && KEY.test(value.key) ? value.key : id;
  const key = taken.has(named) ? id : named;
  taken.add(key);
  return key;
}

function messageOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { message, question } = isFields(value) ? value : {};
  const text = [message, question].find((each) => typeof each === 'string' && each !== '');
  return typeof text === 'string' ? text : (JSON.stringify(value) ?? '');
}

/** Returns the form that the graph asks for, where clients can show it: an object of plain fields. */
function formOf({ value, response_schema: schema }: Interrupt): Fields | undefined {
  const asked = isFields(value) ? (value.requestedSchema ?? value.response_schema) : undefined;
  return flatForm(schema) ?? flatForm(asked);
}

function flatForm(schema: unknown): Fields | undefined {
  if (!isFields(schema) || !isFields(schema.properties)) return undefined;
  if (!Object.values(schema.properties).every(isPlainField)) return undefined;
  const { properties, required } = schema;
  return { type: 'object', properties, ...(Array.isArray(required) && { required }) };
}

function isPlainField(field: unknown): boolean {
  if (!isFields(field)) return false;
  if (SCALARS.has(field.type)) return true;
  if (field.type !== 'array' || !isFields(field.items)) return field.type === undefined && Array.isArray(field.enum);
  return Array.isArray(field.items.enum) || Array.isArray(field.items.anyOf);
}
