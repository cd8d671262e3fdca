import Type, { type TObject, type TSchema } from 'typebox';

/** A message: the schema of its header, that of the answer it asks for, and what the page about the protocol says. */
export interface MessageForm {
  header: TObject;
  /** The schema of `ok` in the answer; left out for a notice, which has none. */
  answer?: TSchema;
  means: string;
  /** The raw bytes behind the header, where there are any. */
  raw?: string;
  /** The raw bytes behind the answer. */
  answerRaw?: string;
  /** True for a notice that only reports: an ill-formed one is dropped, and any other ends the connection. */
  mayBeDropped?: boolean;
}

type Properties = Record<string, TSchema>;
type Notes = Pick<MessageForm, 'means' | 'raw' | 'answerRaw'>;
type NoticeNotes = Pick<MessageForm, 'means' | 'raw' | 'mayBeDropped'>;

const Id = Type.Integer({ minimum: 1 });

/** Names one use of a graph: an attempt of a run, or a state request. */
export const Use = Type.Integer({ minimum: 1 });

/** A message that expects no answer. */
export function notice<N extends string, T extends Properties>(type: N, properties: T, notes: NoticeNotes) {
  return { header: Type.Object({ t: Type.Literal(type), ...properties }), ...notes };
}

/** A message that gets exactly one answer. */
export function request<N extends string, T extends Properties, A extends TSchema>(
  type: N,
  properties: T,
  { answer, ...notes }: Notes & { answer: A },
) {
  return { header: Type.Object({ t: Type.Literal(type), id: Id, ...properties }), answer, ...notes };
}

/**
 * A field that null leaves out too. Projects write null for what they do not want, many languages for what is not
 * there, and JavaScript for `Infinity`.
 */
export function optionalOrNull<T extends TSchema>(schema: T, notes: { description?: string } = {}) {
  return Type.Optional(Type.Union([schema, Type.Null()], notes));
}

/** Gives a form a name, by which the page describes it once. */
export function form<T extends TSchema>(title: string, schema: T): T {
  return Object.assign(schema, { title });
}

export const ErrorBody = form(
  'ErrorBody',
  Type.Object({
    kind: Type.String({ description: 'One of the kinds of errors that are listed above.' }),
    error: Type.String({ description: 'Class name of the error, as clients see it.' }),
    message: Type.String(),
    graphId: Type.Optional(Type.String({ description: 'The graph that failed to load, when one did.' })),
    step: Type.Optional(
      Type.Object(
        { superstep: Type.Integer({ minimum: 0 }), asNode: Type.Union([Type.String(), Type.Null()]) },
        { description: 'The superstep of an update of state that failed, counted from 0, and its node.' },
      ),
    ),
  }),
);

export const Answer: MessageForm = {
  header: Type.Object({
    t: Type.Literal('answer'),
    id: Id,
    ok: Type.Optional(Type.Unknown()),
    error: Type.Optional(ErrorBody),
  }),
  means: 'the answer to the request with this `id`: `ok` in the form of that request, or `error`',
};
