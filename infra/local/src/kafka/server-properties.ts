import type { KafkaLogin } from '@runyard/service-kit/kafka-access';

/** The users of a broker that is started here. */
export interface KafkaLogins {
  /** The login that may do everything. */
  platform: KafkaLogin;
  /** The login of the processes of all deployments, with the rights of `grantDeploymentRights`. */
  deployments: KafkaLogin;
}

export interface BrokerSettings {
  port: number;
  controllerPort: number;
  /** Absent when everybody may do everything. */
  logins?: KafkaLogins | undefined;
  /** The broker's data folder; absent for that of its image, which listens on all addresses of its container. */
  folder?: string;
  /** The address at which clients reach it. */
  host: string;
}

type Properties = Record<string, string | number | boolean>;

/**
 * Returns the properties of one node that is broker and controller. The event bus creates topics, never a mistyped
 * name.
 */
export function serverProperties(server: BrokerSettings): Properties {
  const { port, controllerPort, logins, folder, host } = server;
  const protocol = logins ? 'SASL_PLAINTEXT' : 'PLAINTEXT';
  return {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `CLIENTS://${folder === undefined ? '' : host}:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `CLIENTS://${host}:${port}`,
    'inter.broker.listener.name': 'CLIENTS',
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': `CLIENTS:${protocol},CONTROLLER:${protocol}`,
    ...(logins && accessProperties(logins)),
    // A backslash starts an escape in the file's format.
    ...(folder !== undefined && { 'log.dirs': folder.replaceAll('\\', '/') }),
    'auto.create.topics.enable': false,
    'num.partitions': 1,
    'offsets.topic.num.partitions': 1,
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'log.cleaner.dedupe.buffer.size': 4 * 1024 * 1024,
    'log.retention.hours': 168,
  };
}

/**
 * Nobody connects without a login, to the controller neither; the platform may do everything, everybody else what
 * access lists permit. The users are in these settings alone, not in the data folder: one of a release that had none is
 * opened as it is, and another password takes effect with a restart.
 */
function accessProperties({ platform, deployments }: KafkaLogins): Properties {
  const users = (...logins: KafkaLogin[]) => {
    const options = logins.map(({ username, password }) => `user_${username}="${password}"`);
    const own = `username="${platform.username}" password="${platform.password}"`;
    return `org.apache.kafka.common.security.plain.PlainLoginModule required ${own} ${options.join(' ')};`;
  };
  return {
    'sasl.enabled.mechanisms': 'PLAIN',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.mechanism.controller.protocol': 'PLAIN',
    'listener.name.clients.plain.sasl.jaas.config': users(platform, deployments),
    'listener.name.controller.plain.sasl.jaas.config': users(platform),
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': `User:${platform.username}`,
    'allow.everyone.if.no.acl.found': false,
  };
}

export function propertiesFile(properties: Properties): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** Returns the variables of the image `apache/kafka` for these settings. */
export function imageVariables(properties: Properties): Record<string, string> {
  const named = Object.entries(properties).map(([name, value]) => [
    `KAFKA_${name.toUpperCase().replaceAll('.', '_')}`,
    String(value),
  ]);
  return Object.fromEntries(named);
}
