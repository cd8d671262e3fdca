import type { KafkaConfig, SASLOptions } from 'kafkajs';
import type { KafkaBusConfig } from '../event-bus.ts';
import { createSocketFactory } from './kafka-sockets.ts';

/** Returns the addresses and the login with which a kafkajs client connects to the brokers of a bus. */
export function kafkaClientConfig({
  brokers,
  loopbackHost,
  sasl,
  tls,
}: Pick<KafkaBusConfig, 'brokers' | 'loopbackHost' | 'sasl' | 'tls'>): KafkaConfig {
  return {
    brokers,
    ...(loopbackHost !== undefined && { socketFactory: createSocketFactory(loopbackHost) }),
    // The login is copied, because the client changes the object it is given.
    ...(sasl && { sasl: { ...sasl } as SASLOptions }),
    ...(tls && { ssl: tls }),
  };
}
