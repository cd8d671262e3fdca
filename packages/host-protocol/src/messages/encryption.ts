/** Questions to the encryption object of a project, and their answers. */
import Type, { type Static } from 'typebox';
import { AuthUser } from './auth.ts';
import { form, request } from './message.ts';
import { Headers, ProjectExport, ProjectFields } from './values.ts';

const LoadedEncryption = form(
  'LoadedEncryption',
  Type.Object({
    hasJson: Type.Boolean({ description: 'True when it encrypts values inside JSON itself.' }),
    hasContext: Type.Boolean({ description: 'True when it chooses the context of each request.' }),
  }),
);
/** The project's encryption object. */
export type LoadedEncryption = Static<typeof LoadedEncryption>;

const EncryptionContextRequest = form(
  'EncryptionContextRequest',
  Type.Object({
    user: Type.Union([AuthUser, Type.Null()], {
      description: "The project's user; null for callers of the platform, and for the project's own code.",
    }),
    method: Type.String(),
    url: Type.String(),
    headers: Headers,
  }),
);
/** A request for which the project chooses the context of what is written. */
export type EncryptionContextRequest = Static<typeof EncryptionContextRequest> & { source: ProjectExport };

const ofContext = { source: ProjectExport, metadata: ProjectFields };

export const encryptionToHost = {
  'encryption.load': request(
    'encryption.load',
    { source: ProjectExport },
    { answer: LoadedEncryption, means: "load the project's encryption object; error kind `load`" },
  ),
  'encryption.context': request(
    'encryption.context',
    { source: ProjectExport, request: EncryptionContextRequest },
    { answer: ProjectFields, means: 'in which context is encrypted what the request writes?' },
  ),
  'encryption.encrypt': request('encryption.encrypt', ofContext, {
    raw: 'the plaintext',
    answer: Type.Integer({ minimum: 0, description: 'its length' }),
    answerRaw: 'what it is encrypted as',
    means: 'encrypt a data key in the context `metadata`',
  }),
  'encryption.decrypt': request('encryption.decrypt', ofContext, {
    raw: 'what it is encrypted as',
    answer: Type.Integer({ minimum: 0, description: 'length of the plaintext' }),
    answerRaw: 'the plaintext, then the replacement if there is one',
    means: 'decrypt it',
  }),
  'encryption.json': request(
    'encryption.json',
    { ...ofContext, action: Type.Union([Type.Literal('encrypt'), Type.Literal('decrypt')]) },
    {
      raw: 'JSON text of a list of `{model, field, data}`',
      answer: Type.Null(),
      answerRaw: 'JSON text of a list of `{data}` and `{error}`, in that order',
      means: 'encrypt or decrypt JSON objects in one context',
    },
  ),
} as const;
