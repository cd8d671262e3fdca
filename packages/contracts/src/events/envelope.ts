import Type, { type Static, type TSchema } from 'typebox';

/**
 * Defines a CloudEvents 1.0 event in structured JSON. `id` is stable over redeliveries; consumers deduplicate by it.
 */
export function cloudEvent<const Kind extends string, const Data extends TSchema>(
  type: Kind,
  data: Data,
  example: { subject: string; data: Static<Data> },
) {
  return Type.Object(
    {
      specversion: Type.Literal('1.0'),
      id: Type.String({ format: 'uuid' }),
      /** The service that made the event, `/runyard/<service>[/<instance>]`. */
      source: Type.String(),
      type: Type.Literal(type),
      /** The id of the event's object, by which the topic is keyed. */
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
