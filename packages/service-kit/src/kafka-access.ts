import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';

const KAFKA_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/** The login of a client at Kafka brokers. */
export interface KafkaLogin {
  mechanism: (typeof KAFKA_MECHANISMS)[number];
  username: string;
  password: string;
}

/** Encryption of connections to brokers, whose certificates are checked. */
export interface KafkaTls {
  /** Certificates of authorities in PEM, instead of those that Node.js trusts. */
  ca?: string;
}

type Variables = Record<string, unknown>;

/**
 * Returns the user in `KAFKA_SASL_USERNAME` and `KAFKA_SASL_PASSWORD`, both after the prefix; undefined when neither is
 * set. `KAFKA_SASL_MECHANISM`, after `mechanismPrefix`, applies to all users of a broker.
 *
 * @throws ConfigError when one is set without the other, or the mechanism is not known
 */
export function readKafkaLogin(variables: Variables, prefix = '', mechanismPrefix = prefix): KafkaLogin | undefined {
  const names = { username: `${prefix}KAFKA_SASL_USERNAME`, password: `${prefix}KAFKA_SASL_PASSWORD` };
  const mechanismName = `${mechanismPrefix}KAFKA_SASL_MECHANISM`;
  const username = textOf(variables[names.username]);
  const password = textOf(variables[names.password]);
  const mechanism = textOf(variables[mechanismName]) ?? 'plain';
  if (!isMechanism(mechanism))
    throw new ConfigError([`${mechanismName} must be one of ${KAFKA_MECHANISMS.join(', ')}.`]);
  if (username !== undefined && password !== undefined) return { mechanism, username, password };
  if (username !== undefined) throw new ConfigError([`${names.password} is required with ${names.username}.`]);
  if (password !== undefined) throw new ConfigError([`${names.username} is required with ${names.password}.`]);
  return undefined;
}

/** Returns the variables that `readKafkaLogin` reads with the same prefix, without the mechanism; none without a login. */
export function kafkaLoginVariables(login: KafkaLogin | undefined, prefix = ''): Record<string, string> {
  return login
    ? { [`${prefix}KAFKA_SASL_USERNAME`]: login.username, [`${prefix}KAFKA_SASL_PASSWORD`]: login.password }
    : {};
}

/**
 * Returns the settings of `KAFKA_SSL`, `KAFKA_SSL_CA` and `KAFKA_SSL_CA_FILE`, each after the prefix; undefined when
 * connections are not encrypted.
 *
 * @throws ConfigError when certificates are named for unencrypted connections, twice, or cannot be read
 */
export function readKafkaTls(variables: Variables, prefix = ''): KafkaTls | undefined {
  const names = { ssl: `${prefix}KAFKA_SSL`, text: `${prefix}KAFKA_SSL_CA`, file: `${prefix}KAFKA_SSL_CA_FILE` };
  const text = textOf(variables[names.text]);
  const file = textOf(variables[names.file]);
  if (text !== undefined && file !== undefined)
    throw new ConfigError([`${names.text} and ${names.file} exclude each other.`]);
  if (!/^(true|1|yes|on)$/i.test(String(variables[names.ssl]))) {
    const alone = text !== undefined ? names.text : file !== undefined ? names.file : undefined;
    if (alone) throw new ConfigError([`${names.ssl}=true is required with ${alone}.`]);
    return undefined;
  }
  const ca = file === undefined ? text : readCertificates(file, names.file);
  return ca === undefined ? {} : { ca };
}

/** Returns the variables that `readKafkaTls` reads without a prefix; none without encryption. */
export function kafkaTlsVariables(tls: KafkaTls | undefined): Record<string, string> {
  return tls ? { KAFKA_SSL: 'true', ...(tls.ca && { KAFKA_SSL_CA: tls.ca }) } : {};
}

function readCertificates(file: string, variable: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`${variable} cannot be read: ${(error as Error).message}.`]);
  }
}

function isMechanism(text: string): text is KafkaLogin['mechanism'] {
  return (KAFKA_MECHANISMS as readonly string[]).includes(text);
}

/** Returns a text; an empty variable counts as unset. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
