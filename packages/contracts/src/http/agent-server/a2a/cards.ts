import Type, { type Static } from 'typebox';
import { JsonObject } from '../../../json-object.ts';

const A2aSkill = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  tags: Type.Array(Type.String()),
  inputModes: Type.Optional(Type.Array(Type.String())),
});

const OF_V03 = { description: 'A field of 0.3.' };

/** A card of A2A 1.0. Clients that ask for no version get the fields of 0.3 beside these. */
export const AgentCard = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    version: Type.String({ description: 'Of the assistant.' }),
    supportedInterfaces: Type.Array(
      Type.Object({ url: Type.String(), protocolBinding: Type.String(), protocolVersion: Type.String() }),
    ),
    capabilities: Type.Object({
      streaming: Type.Boolean(),
      pushNotifications: Type.Boolean(),
      extendedAgentCard: Type.Boolean(),
      extensions: Type.Array(Type.Object({ uri: Type.String(), description: Type.String(), required: Type.Boolean() })),
      stateTransitionHistory: Type.Optional(Type.Boolean(OF_V03)),
    }),
    defaultInputModes: Type.Array(Type.String()),
    defaultOutputModes: Type.Array(Type.String()),
    skills: Type.Array(A2aSkill),
    securitySchemes: Type.Optional(Type.Record(Type.String(), JsonObject)),
    securityRequirements: Type.Optional(Type.Array(JsonObject)),
    signatures: Type.Optional(Type.Array(Type.Object({ protected: Type.String(), signature: Type.String() }))),
    url: Type.Optional(Type.String(OF_V03)),
    protocolVersion: Type.Optional(Type.String(OF_V03)),
    preferredTransport: Type.Optional(Type.String(OF_V03)),
    additionalInterfaces: Type.Optional(
      Type.Array(Type.Object({ url: Type.String(), transport: Type.String() }), OF_V03),
    ),
    supportsAuthenticatedExtendedCard: Type.Optional(Type.Boolean(OF_V03)),
    security: Type.Optional(Type.Array(JsonObject, OF_V03)),
  },
  { $id: 'AgentCard' },
);
export type AgentCard = Static<typeof AgentCard>;

/** The public keys that sign cards, as RFC 7517 has them. */
export const CardKeys = Type.Object({ keys: Type.Array(JsonObject) }, { $id: 'CardKeys' });
