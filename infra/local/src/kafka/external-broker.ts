import { type KafkaTls, readKafkaLogin, readKafkaTls } from '@runyard/service-kit/kafka-access';
import { InfrastructureError, reasonOf } from '../infrastructure-error.ts';
import { checkBroker } from './broker-access.ts';
import type { KafkaLogins } from './server-properties.ts';

/** The variable of an external broker. */
export const BROKERS_VARIABLE = 'RUNYARD_KAFKA_BROKERS';

/** Returns whether the environment names a broker. */
export function isKafkaNamed(environment: NodeJS.ProcessEnv): boolean {
  return Boolean(environment[BROKERS_VARIABLE]);
}

export interface ExternalBroker {
  brokers: string[];
  logins?: KafkaLogins;
  tls?: KafkaTls;
}

/**
 * Returns the broker that the environment names, with its users; null when it names none. The variables are those of
 * the services with `RUNYARD_` before them.
 *
 * @throws InfrastructureError when it cannot be used as each of the users, or when their variables are incomplete
 */
export async function findExternalBroker(environment: NodeJS.ProcessEnv): Promise<ExternalBroker | null> {
  const given = environment[BROKERS_VARIABLE];
  if (!given) return null;
  try {
    const brokers = given.split(',').map((broker) => broker.trim());
    const logins = readExternalLogins(environment);
    const tls = readKafkaTls(environment, 'RUNYARD_');
    for (const login of logins ? [logins.platform, logins.deployments] : [undefined])
      await checkBroker({ brokers, login, tls });
    return { brokers, ...(logins && { logins }), ...(tls && { tls }) };
  } catch (error) {
    throw new InfrastructureError(
      `Kafka at ${BROKERS_VARIABLE} cannot be used: ${reasonOf(error).replace(/\.$/, '')}.`,
    );
  }
}

function readExternalLogins(environment: NodeJS.ProcessEnv): KafkaLogins | undefined {
  const platform = readKafkaLogin(environment, 'RUNYARD_');
  const deployments = readKafkaLogin(environment, 'RUNYARD_DEPLOYMENT_', 'RUNYARD_');
  if (platform && deployments) return { platform, deployments };
  if (!platform && !deployments && !environment.RUNYARD_KAFKA_SASL_MECHANISM) return undefined;
  const missing = platform ? 'RUNYARD_DEPLOYMENT_KAFKA_SASL_USERNAME' : 'RUNYARD_KAFKA_SASL_USERNAME';
  throw new Error(`${missing} is missing: the platform and deployments have a user each, or none has`);
}
