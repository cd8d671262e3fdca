import Type, { type Static } from 'typebox';

/** `encryption`: the project's own encryption of stored data. */
export const EncryptionSection = Type.Object(
  {
    // Required: whoever asks for encryption must not be left with plain text.
    path: Type.String({
      minLength: 1,
      description: 'The encryption object, `"./file.ts:export"`. See [below](#encryption-of-your-own).',
    }),
  },
  {
    description: 'Encryption of stored data under keys of the project. Refused at start without its `path`.',
  },
);
export type EncryptionSection = Static<typeof EncryptionSection>;
