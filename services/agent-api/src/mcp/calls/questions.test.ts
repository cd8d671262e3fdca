import { expect, it } from 'vitest';
import { interruptsIn, questionsOf, readAnswer, resumeWith } from './questions.ts';

const form = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const ask = (interrupt: object) => questionsOf(interruptsIn({ __interrupt__: [{ id: 'i', ...interrupt }] }))[0]!;

it.each<[string, object, string]>([
  ['a text', { value: 'Really?' }, 'Really?'],
  ['a message', { value: { message: 'Really?' } }, 'Really?'],
  ['anything else', { value: { amount: 3 } }, '{"amount":3}'],
])('an interrupt with %s is a question with one text', (_, interrupt, message) => {
  expect(ask(interrupt)).toMatchObject({ key: 'i', isText: true, params: { message } });
});

it('a flat schema is the form, and one that clients cannot show is not', () => {
  expect(ask({ value: 'x', response_schema: form }).params.requestedSchema).toEqual(form);
  expect(ask({ value: { requestedSchema: form } }).params.requestedSchema).toEqual(form);
  const deep = { type: 'object', properties: { who: { type: 'object' } } };
  expect(ask({ value: 'x', response_schema: deep }).isText).toBe(true);
});

it('questions have different keys, also where the graph gives two the same', () => {
  const interrupts = interruptsIn({ __interrupt__: ['a', 'b'].map((id) => ({ id, value: { key: 'name' } })) });
  expect(questionsOf(interrupts).map(({ key }) => key)).toEqual(['name', 'b']);
});

it.each<[string, unknown, string]>([
  ['a form', { action: 'accept', content: { ok: true } }, 'given'],
  ['a form without a required field', { action: 'accept', content: {} }, 'missing'],
  ['no content', { action: 'accept' }, 'missing'],
  ['nothing', undefined, 'missing'],
  ['a refusal', { action: 'decline' }, 'refused'],
  ['a cancel', { action: 'cancel' }, 'refused'],
])('%s is read as such', (_, response, kind) => {
  expect(readAnswer(response, ask({ value: 'x', response_schema: form })).kind).toBe(kind);
});

it('one answer resumes the graph as it is, several by their interrupts', () => {
  expect(resumeWith([{ id: 'a' }], { a: 1 })).toBe(1);
  expect(resumeWith([{ id: 'a' }, { id: 'b' }], { a: 1, b: 2 })).toEqual({ a: 1, b: 2 });
});
