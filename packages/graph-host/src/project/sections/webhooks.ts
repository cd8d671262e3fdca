import Type, { type Static } from 'typebox';

/** `webhooks`: what is sent with every webhook, and where they may go. */
export const WebhooksSection = Type.Object(
  {
    env_prefix: Type.Optional(Type.Unknown({ description: 'Variables that header templates may name.' })),
    headers: Type.Optional(Type.Unknown({ description: 'Headers of every webhook.' })),
    url: Type.Optional(Type.Unknown({ description: 'Where webhooks may go.' })),
  },
  { description: 'Webhooks of runs.' },
);
export type WebhooksSection = Static<typeof WebhooksSection>;
