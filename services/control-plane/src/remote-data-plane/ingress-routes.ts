import { getRoutes, getSigningKeys, verifyKey } from '@runyard/contracts';
import { type BoundOperation, bind, type Logger, ok, UnavailableError } from '@runyard/service-kit';
import type { ControlPlaneClient } from './control-plane-client.ts';
import type { ControlPlaneLink } from './control-plane-link.ts';
import type { RemoteRolloutStore } from './remote-rollout-store.ts';
import type { StateFile } from './state-file.ts';

export interface IngressDependencies {
  store: Pick<RemoteRolloutStore, 'routes'>;
  client: ControlPlaneClient;
  link: Pick<ControlPlaneLink, 'sendOnce'>;
  stateFile: StateFile;
  logger: Logger;
}

/**
 * Serves a gateway beside this data plane in place of control-plane and org-access: the routes of deployments, the
 * verification of their callers' keys, and the public keys. The public keys are stored, so that tokens can be verified
 * while the control plane is unreachable.
 */
export function ingressRoutes({ store, client, link, stateFile, logger }: IngressDependencies): BoundOperation[] {
  return [
    bind(getRoutes, async () => ok({ routes: store.routes() })),
    bind(verifyKey, async ({ body }) => {
      const answer = await link
        .sendOnce((epoch, signal) => client.checkCaller({ epoch, ...body }, signal))
        .catch((cause: unknown) => {
          throw new UnavailableError('Callers cannot be checked at the moment', {
            code: 'key_check_unavailable',
            cause,
            retryAfterSeconds: 1,
          });
        });
      return answer.verified ? ok(answer.verified) : { status: answer.status, body: { detail: answer.detail } };
    }),
    bind(getSigningKeys, async () => {
      try {
        stateFile.state.keySet = await link.sendOnce((_, signal) => client.keySet(signal));
        await stateFile.save();
      } catch (error) {
        logger.warn('key set request failed', { isKnown: stateFile.state.keySet !== null, error });
      }
      if (!stateFile.state.keySet)
        throw new UnavailableError('The key set is not known yet', {
          code: 'token_keys_unavailable',
          retryAfterSeconds: 1,
        });
      return ok(stateFile.state.keySet);
    }),
  ];
}
