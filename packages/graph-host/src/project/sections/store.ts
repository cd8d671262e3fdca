import Type, { type Static } from 'typebox';

/** `store`: semantic search and life time of the items of the long-term store. */
export const StoreSection = Type.Object(
  {
    index: Type.Optional(Type.Unknown({ description: 'Semantic search.' })),
    ttl: Type.Optional(Type.Unknown({ description: 'How long items are kept.' })),
  },
  { description: 'The long-term store.' },
);
export type StoreSection = Static<typeof StoreSection>;
