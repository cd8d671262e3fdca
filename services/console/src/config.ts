import { consoleUrlVariable, internalTokenVariable, serviceVariables } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';

export const configSchema = Type.Object({
  ...serviceVariables,
  INTERNAL_TOKEN: internalTokenVariable,
  CONSOLE_URL: consoleUrlVariable,
  PUBLIC_URL: Type.String({
    format: 'uri',
    description: 'Address of the platform for browsers, where people sign in.',
  }),
  GATEWAY_URL: Type.String({ format: 'uri', description: 'Base URL of the gateway, which is asked as a person.' }),
  ORG_ACCESS_URL: Type.String({ format: 'uri', description: 'Base URL of org-access, which keeps sessions.' }),
});
export type Config = Static<typeof configSchema>;
