import { ConfigError, readKafkaLogin, readKafkaTls } from '@runyard/service-kit';
import { inheritedTracingVariables } from '@runyard/tracing';
import type { PlatformSettings } from '../drivers/deployment-variables.ts';
import type { DataPlaneSettings } from './data-plane-variables.ts';

/**
 * Returns the settings of the platform that every deployment gets.
 *
 * @throws ConfigError when Kafka requires a login and deployments have no complete one of their own
 */
export function platformSettings(
  config: DataPlaneSettings,
  { publicUrl, jwksUrl }: Pick<PlatformSettings, 'publicUrl' | 'jwksUrl'>,
): PlatformSettings {
  return {
    host: config.DEPLOYMENTS_HOST,
    publicUrl,
    jwksUrl,
    graceSeconds: config.BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS,
    stopGraceSeconds: config.STOP_GRACE_SECONDS,
    outboundNetworks: config.OUTBOUND_ALLOWED_NETWORKS,
    logLevel: config.LOG_LEVEL,
    logRuns: config.LOG_RUNS,
    preparedStatements: config.DATA_POSTGRES_PREPARED_STATEMENTS,
    tracing: inheritedTracingVariables(config),
    eventBus: {
      kind: config.EVENT_BUS,
      kafkaBrokers: config.KAFKA_BROKERS,
      topicPrefix: config.TOPIC_PREFIX,
      ...(config.EVENT_BUS === 'kafka' && kafkaOfDeployments(config)),
    },
  };
}

/**
 * Deployments never get the platform's own user: it reads the events of all deployments, and publishes as the platform.
 */
function kafkaOfDeployments(
  config: DataPlaneSettings,
): Pick<PlatformSettings['eventBus'], 'readKafkaLogin' | 'readKafkaTls'> {
  const login = readKafkaLogin(config, 'DEPLOYMENT_', '');
  if (!login && readKafkaLogin(config))
    throw new ConfigError(['DEPLOYMENT_KAFKA_SASL_USERNAME is required with KAFKA_SASL_USERNAME.']);
  return { readKafkaLogin: login, readKafkaTls: readKafkaTls(config) };
}
