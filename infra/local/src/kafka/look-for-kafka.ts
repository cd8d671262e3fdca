import { findDocker } from '../docker.ts';
import { InfrastructureError } from '../infrastructure-error.ts';
import { BROKERS_VARIABLE, findExternalBroker } from './external-broker.ts';
import { lookForInstalledKafka } from './installations.ts';
import { noKafka } from './no-kafka.ts';

/**
 * Returns which Kafka a start would use, in words. It starts and fetches nothing.
 *
 * @throws InfrastructureError when there is none
 */
export async function lookForKafka(environment: NodeJS.ProcessEnv): Promise<string> {
  if (await findExternalBroker(environment)) return `the one at ${BROKERS_VARIABLE}`;
  const looked = await lookForInstalledKafka(environment);
  if ('found' in looked) return looked.found;
  if (await findDocker(environment)) return 'apache/kafka:4.1.1, by Docker';
  throw new InfrastructureError(noKafka(looked.missing));
}
