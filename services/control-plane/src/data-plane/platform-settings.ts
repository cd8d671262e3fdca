import type { PlatformSettings } from '../drivers/deployment-variables.ts';
import type { DataPlaneSettings } from './data-plane-variables.ts';

/** What deployments are told of the platform around them. */
export function platformSettings(
  config: DataPlaneSettings,
  { publicUrl, jwksUrl }: Pick<PlatformSettings, 'publicUrl' | 'jwksUrl'>,
): PlatformSettings {
  return {
    host: config.DEPLOYMENTS_HOST,
    publicUrl,
    jwksUrl,
    graceSeconds: config.BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS,
    outboundNetworks: config.OUTBOUND_ALLOWED_NETWORKS,
    logLevel: config.LOG_LEVEL,
    eventBus: {
      kind: config.EVENT_BUS,
      kafkaBrokers: config.KAFKA_BROKERS,
      topicPrefix: config.TOPIC_PREFIX,
    },
  };
}
