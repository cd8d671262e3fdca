import { eventBusVariables, serviceVariables } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';

export const configSchema = Type.Object({
  ...serviceVariables,
  ...eventBusVariables,
  DATABASE_URI: Type.String({ minLength: 1, description: "The Postgres database of this service's own." }),
  DATABASE_POOL_SIZE: Type.Integer({ default: 8, minimum: 2, maximum: 200 }),
  INTERNAL_TOKEN: Type.String({
    minLength: 16,
    description: 'Secret shared by the services of one platform; opens /internal.',
  }),
  ENCRYPTION_KEY: Type.String({
    minLength: 1,
    description: '32 bytes in base64 or hex; several, newest first, separated by commas.',
  }),
  // A revoked key's tokens stay valid this long wherever they were already handed out.
  PRINCIPAL_TOKEN_TTL_SECONDS: Type.Integer({ default: 60, minimum: 10, maximum: 60 }),
  SIGNING_KEY_ROTATION_DAYS: Type.Integer({ default: 90, minimum: 1, maximum: 3650 }),
});
export type Config = Static<typeof configSchema>;
