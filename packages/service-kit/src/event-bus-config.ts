import Type, { type Static } from 'typebox';
import { ConfigError } from './config-error.ts';
import { ConnectionUri } from './connection-uri.ts';
import { readKafkaLogin, readKafkaTls } from './kafka-access.ts';

/** Variables of a service that uses the event bus. */
export const eventBusVariables = {
  EVENT_BUS: Type.Union([Type.Literal('kafka'), Type.Literal('redis')], { default: 'kafka' }),
  KAFKA_BROKERS: Type.Optional(Type.String({ description: 'Comma-separated `host:port` list; needed with `kafka`.' })),
  KAFKA_LOOPBACK_HOST: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Where brokers are reached whose address is one of the loopback interface: inside a container, the name of the machine.',
    }),
  ),
  KAFKA_SASL_MECHANISM: Type.Optional(
    Type.Union([Type.Literal('plain'), Type.Literal('scram-sha-256'), Type.Literal('scram-sha-512')], {
      description: 'How users log in to the brokers; default: `plain`.',
    }),
  ),
  KAFKA_SASL_USERNAME: Type.Optional(
    Type.String({ description: 'User of this service at the brokers; none where they ask for none.' }),
  ),
  KAFKA_SASL_PASSWORD: Type.Optional(Type.String({ description: 'Needed with `KAFKA_SASL_USERNAME`.' })),
  KAFKA_SSL: Type.Boolean({ default: false, description: 'Connections to the brokers are encrypted.' }),
  KAFKA_SSL_CA_FILE: Type.Optional(
    Type.String({ description: 'File of the certificates, in PEM, that sign those of the brokers.' }),
  ),
  KAFKA_SSL_CA: Type.Optional(Type.String({ description: 'In place of it: those certificates themselves.' })),
  EVENT_BUS_REDIS_URI: Type.Optional(ConnectionUri('redis', 'Needed with `redis`.')),
  EVENT_BUS_REDIS_RETENTION_SECONDS: Type.Integer({
    default: 3_600,
    minimum: 60,
    description: 'With `redis`: how long it keeps events, which nobody may have read, in its memory.',
  }),
  EVENT_BUS_REDIS_MAX_EVENTS: Type.Integer({
    default: 100_000,
    minimum: 1_000,
    description: 'With `redis`: how many events of a topic it keeps at most.',
  }),
  TOPIC_PREFIX: Type.String({ default: '', description: 'Put before every topic and group name.' }),
};

/**
 * Converts the variables of the event bus to its options.
 *
 * @throws ConfigError when the address of the chosen bus is missing, or its login is incomplete.
 */
export function toEventBusConfig(variables: Static<Type.TObject<typeof eventBusVariables>>, clientId: string) {
  const { EVENT_BUS, KAFKA_BROKERS, KAFKA_LOOPBACK_HOST: loopbackHost, EVENT_BUS_REDIS_URI, TOPIC_PREFIX } = variables;
  if (EVENT_BUS === 'redis') {
    if (!EVENT_BUS_REDIS_URI) throw new ConfigError(['EVENT_BUS_REDIS_URI is required with EVENT_BUS=redis.']);
    return {
      kind: 'redis' as const,
      url: EVENT_BUS_REDIS_URI,
      prefix: TOPIC_PREFIX,
      retentionMs: variables.EVENT_BUS_REDIS_RETENTION_SECONDS * 1000,
      maxEvents: variables.EVENT_BUS_REDIS_MAX_EVENTS,
    };
  }
  if (!KAFKA_BROKERS) throw new ConfigError(['KAFKA_BROKERS is required with EVENT_BUS=kafka.']);
  const brokers = KAFKA_BROKERS.split(',').map((broker) => broker.trim());
  const sasl = readKafkaLogin(variables);
  if (!sasl && variables.KAFKA_SASL_MECHANISM)
    throw new ConfigError(['KAFKA_SASL_USERNAME is required with KAFKA_SASL_MECHANISM.']);
  const tls = readKafkaTls(variables);
  return {
    kind: 'kafka' as const,
    brokers,
    clientId,
    topicPrefix: TOPIC_PREFIX,
    ...(loopbackHost && { loopbackHost }),
    ...(sasl && { sasl }),
    ...(tls && { tls }),
  };
}
