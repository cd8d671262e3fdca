import Type, { type Static } from 'typebox';

/** The fields of a webhook's body, in the order they are sent. */
export const WEBHOOK_FIELDS = [
  'run_id',
  'thread_id',
  'assistant_id',
  'status',
  'created_at',
  'updated_at',
  'metadata',
  'kwargs',
  'multitask_strategy',
  'run_started_at',
  'run_ended_at',
  'webhook_sent_at',
  'values',
  'error',
] as const;
export type WebhookField = (typeof WEBHOOK_FIELDS)[number];

export const DEFAULT_ENV_PREFIX = 'LG_WEBHOOK_';

const WebhookUrlRules = Type.Object(
  {
    require_https: Type.Optional(Type.Boolean({ default: false, description: 'Refuse `http://`.' })),
    allowed_domains: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          'Hosts alone that may be named. `*.example.com` is every name below `example.com`, not that itself.',
      }),
    ),
    allowed_ports: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), {
        description: 'Ports alone that may be named. A URL without one has 443 or 80.',
      }),
    ),
    max_url_length: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 65_536, default: 65_536, description: 'Characters of a URL at most.' }),
    ),
    disable_loopback: Type.Optional(
      Type.Boolean({
        description:
          'False lets webhooks reach this machine and the own app by a path; true never. Left out: the own app alone, unless `enable_custom_route_auth` asks about its callers, and what `OUTBOUND_ALLOWED_NETWORKS` names.',
      }),
    ),
  },
  { description: 'Where webhooks may go.' },
);

/** `webhooks`: headers and fields of every webhook, and the addresses that webhooks may call. */
export const WebhooksSection = Type.Object(
  {
    env_prefix: Type.Optional(
      Type.String({
        minLength: 1,
        default: DEFAULT_ENV_PREFIX,
        description: 'How the variables begin that headers may name.',
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: `Headers of every webhook. \`\${{ env.LG_WEBHOOK_TOKEN }}\` stands for a variable.`,
      }),
    ),
    url: Type.Optional(WebhookUrlRules),
    default_url: Type.Optional(
      Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { maxItems: 10 })], {
        description: 'Told of runs that name no webhook themselves.',
      }),
    ),
    payload_fields: Type.Optional(
      Type.Array(Type.Unsafe<WebhookField>(Type.Union(WEBHOOK_FIELDS.map((field) => Type.Literal(field)))), {
        minItems: 1,
        description: 'The only fields of the body that are sent. Left out: all.',
      }),
    ),
    on_refused: Type.Optional(
      Type.Union([Type.Literal('reject'), Type.Literal('accept')], {
        default: 'reject',
        description:
          'A run with a webhook that may not be reached: 422, or accepted and the refusal written in its log.',
      }),
    ),
  },
  { description: 'Webhooks of runs.' },
);
export type WebhooksSection = Static<typeof WebhooksSection>;
