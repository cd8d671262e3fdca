import {
  allowAll,
  ConfigError,
  createPrincipalVerifier,
  type Logger,
  type PrincipalVerifier,
} from '@runyard/service-kit';
import type { Config } from '../config.ts';

/**
 * Returns the verifier of callers: bearers of the platform's tokens for this deployment, or everybody when it is
 * configured so.
 */
export function createCallerVerifier(config: Config, logger: Logger): PrincipalVerifier {
  if (config.RUNYARD_AUTH === 'none') {
    logger.warn('RUNYARD_AUTH=none: callers are not authenticated');
    return allowAll();
  }
  if (!config.PLATFORM_JWKS_URL) {
    throw new ConfigError(['PLATFORM_JWKS_URL is needed to check callers (or RUNYARD_AUTH=none to let everybody in).']);
  }
  return createPrincipalVerifier({
    jwksUrl: config.PLATFORM_JWKS_URL,
    audience: `deployment:${config.DEPLOYMENT_ID}`,
  });
}
