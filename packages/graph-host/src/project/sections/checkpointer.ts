import Type, { type Static } from 'typebox';

/** `checkpointer`: where checkpoints are kept, for how long, and what may be read from them. */
export const CheckpointerSection = Type.Object(
  {
    backend: Type.Optional(Type.Unknown({ description: 'Where checkpoints are kept.' })),
    path: Type.Optional(Type.Unknown({ description: "The project's own checkpointer." })),
    ttl: Type.Optional(Type.Unknown({ description: 'How long threads are kept.' })),
    serde: Type.Optional(Type.Unknown({ description: 'What may be read from stored checkpoints.' })),
  },
  { description: 'Checkpoints of threads.' },
);
export type CheckpointerSection = Static<typeof CheckpointerSection>;
