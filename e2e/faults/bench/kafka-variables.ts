import { kafkaLoginVariables, type Servers } from '@runyard/local-infra';

/**
 * Returns the variables of a service for the bench's broker. All services are the platform's user there: topics of the
 * bench have prefixes, and the user of deployments has a right to the one topic of an installation alone.
 */
export function kafkaVariables({ brokers, logins }: NonNullable<Servers['kafka']>): Record<string, string> {
  return { KAFKA_BROKERS: brokers.join(','), ...kafkaLoginVariables(logins?.platform) };
}
