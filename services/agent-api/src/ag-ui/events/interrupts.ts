import { type Fields, isFields } from '../../http/fields.ts';

/** An interrupt as the final values of a run, or its events, have it. */
export interface StateInterrupt {
  id: string;
  value: unknown;
  response_schema?: unknown;
}

/** The `reason` of an interrupt whose value gives none. */
const REASON = 'langgraph:interrupt';

/** Returns the interrupts in values of a run that waits. */
export function interruptsIn(values: unknown): StateInterrupt[] {
  const interrupts = isFields(values) ? values.__interrupt__ : undefined;
  if (!Array.isArray(interrupts)) return [];
  return interrupts.filter(isFields).flatMap(({ id, value = null, response_schema }) => {
    return typeof id === 'string' ? [{ id, value, response_schema }] : [];
  });
}

/** Returns an interrupt in the form of AG-UI. What its value says of itself, in either case of names, is believed. */
export function toShownInterrupt({ id, value, response_schema }: StateInterrupt): Fields {
  const said = isFields(value) ? value : {};
  const text = (...found: unknown[]) => found.find((each) => typeof each === 'string');
  const message = text(value, said.message, said.question);
  const toolCallId = text(said.toolCallId, said.tool_call_id);
  const expiresAt = text(said.expiresAt, said.expires_at);
  const responseSchema = [said.responseSchema, said.response_schema, response_schema].find(isFields);
  return {
    id,
    reason: text(said.reason) ?? REASON,
    ...(message !== undefined && { message }),
    ...(toolCallId !== undefined && { toolCallId }),
    ...(responseSchema && { responseSchema }),
    ...(expiresAt !== undefined && { expiresAt }),
    metadata: { langgraph: { raw: value } },
  };
}

/** Returns the value of the event by which clients without outcomes learn of an interrupt: a text. */
export function customValueOf({ value }: StateInterrupt): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
