import Type, { type Static } from 'typebox';

/** `encryption`: the project's own encryption of stored data. */
export const EncryptionSection = Type.Object(
  {
    path: Type.Optional(Type.String({ minLength: 1, description: 'The encryption object: `"./file.ts:export"`.' })),
  },
  {
    description:
      'Custom encryption of stored data. Not available: a project with `encryption.path` is refused at start, so that nothing is stored in plain text by mistake.',
  },
);
export type EncryptionSection = Static<typeof EncryptionSection>;
