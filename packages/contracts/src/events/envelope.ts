import Type, { type Static, type TSchema } from 'typebox';

/** CloudEvents 1.0 in structured JSON. `id` is stable over redeliveries; consumers de-duplicate by it. */
export function cloudEvent<const Kind extends string, const Data extends TSchema>(
  type: Kind,
  data: Data,
  example: { subject: string; data: Static<Data> },
) {
  return Type.Object(
    {
      specversion: Type.Literal('1.0'),
      id: Type.String({ format: 'uuid' }),
      /** The service that made it, `/runyard/<service>[/<instance>]`. */
      source: Type.String(),
      type: Type.Literal(type),
      /** What the event is about: the id the topic is keyed by. */
      subject: Type.String(),
      time: Type.String({ format: 'date-time' }),
      datacontenttype: Type.Literal('application/json'),
      data,
    },
    {
      $id: type,
      examples: [
        {
          specversion: '1.0',
          id: '5b1f3c7e-5d0c-4a55-9f0e-0d4f2f6d2a10',
          source: '/runyard/example',
          type,
          subject: example.subject,
          time: '2026-01-31T12:00:00.000Z',
          datacontenttype: 'application/json',
          data: example.data,
        },
      ],
    },
  );
}

export interface CloudEvent<Data = unknown> {
  specversion: '1.0';
  id: string;
  source: string;
  type: string;
  subject: string;
  time: string;
  datacontenttype: 'application/json';
  data: Data;
}

export type DataOf<T extends TSchema> = Static<T> extends { data: infer D } ? D : never;
