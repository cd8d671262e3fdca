import type { KafkaLogin, KafkaTls } from '@runyard/service-kit/kafka-access';
import kafkajs, { type Admin, type SASLOptions } from 'kafkajs';

export interface BrokerAccess {
  brokers: string[];
  login?: KafkaLogin | undefined;
  tls?: KafkaTls | undefined;
}

/** The one topic that deployments publish to, their runs' lifecycle; on a broker of ours topics have no prefix. */
const RUNS_TOPIC = 'runyard.runs';

/** Succeeds once the broker serves requests of this user; its port is open well before. */
export function checkBroker(access: BrokerAccess): Promise<void> {
  return withAdmin(access, async (admin) => void (await admin.describeCluster()));
}

/**
 * Lets a user publish to the topic of runs and create it, and nothing else: neither read, nor list, nor delete, nor
 * join a group. Does nothing where the rights exist already.
 */
export function grantDeploymentRights(access: BrokerAccess, { username }: KafkaLogin): Promise<void> {
  const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
  const acl = [AclOperationTypes.WRITE, AclOperationTypes.CREATE].map((operation) => ({
    principal: `User:${username}`,
    host: '*',
    operation,
    permissionType: AclPermissionTypes.ALLOW,
    resourceType: AclResourceTypes.TOPIC,
    resourceName: RUNS_TOPIC,
    resourcePatternType: ResourcePatternTypes.LITERAL,
  }));
  return withAdmin(access, async (admin) => void (await admin.createAcls({ acl })));
}

async function withAdmin({ brokers, login, tls }: BrokerAccess, use: (admin: Admin) => Promise<void>): Promise<void> {
  const admin = new kafkajs.Kafka({
    clientId: 'runyard-launcher',
    brokers,
    // The client modifies the object it gets, so it gets a copy.
    ...(login && { sasl: { ...login } as SASLOptions }),
    ...(tls && { ssl: tls }),
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 2_000,
    requestTimeout: 5_000,
    retry: { retries: 0 },
  }).admin({ retry: { retries: 0 } });
  try {
    await admin.connect();
    await use(admin);
  } finally {
    await admin.disconnect();
  }
}
