/** Returns the sentence for whoever asked for Kafka where there is none. */
export function noKafka(missing: string): string {
  return `There is no Kafka here (${missing}), and it is required: install Java 17 and Maven, or set RUNYARD_KAFKA_BROKERS, or start Docker.`;
}
