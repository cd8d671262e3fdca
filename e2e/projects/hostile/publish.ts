import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';

/** Publishes a route in the name of the control plane, without a login. @throws when the brokers refuse */
export async function publish(
  brokers: string[],
  data: { deployment_id: string } & Record<string, unknown>,
): Promise<void> {
  const event = {
    specversion: '1.0',
    id: randomUUID(),
    source: '/runyard/control-plane',
    type: 'runyard.deployment.route_changed',
    subject: data.deployment_id,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    data,
  };
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 0 } }).producer();
  try {
    await producer.connect();
    const messages = [{ key: event.subject, value: JSON.stringify(event) }];
    await producer.send({ topic: 'runyard.deployments', messages });
  } finally {
    await producer.disconnect();
  }
}
