import { getRoutes, getSigningKeys, verifyKey } from '@runyard/contracts';
import { type BoundOperation, bind, type Logger, ok, UnavailableError } from '@runyard/service-kit';
import type { ControlPlaneClient } from '../link/control-plane-client.ts';
import type { ControlPlaneLink } from '../link/control-plane-link.ts';
import type { RemoteRolloutStore } from '../state/remote-rollout-store.ts';
import type { StateFile } from '../state/state-file.ts';

interface Platform {
  client: ControlPlaneClient;
  link: Pick<ControlPlaneLink, 'sendOnce'>;
}

/**
 * Serves a gateway beside this data plane in place of control-plane and org-access: the routes of deployments, and the
 * verification of their callers' keys.
 */
export function ingressRoutes({
  store,
  client,
  link,
}: Platform & { store: Pick<RemoteRolloutStore, 'routes'> }): BoundOperation[] {
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
  ];
}

/**
 * Serves the public keys by which deployments, and a gateway beside, check tokens. They are stored, so that this is
 * possible while the control plane is unreachable.
 */
export function keySetRoute({
  client,
  link,
  stateFile,
  logger,
}: Platform & { stateFile: StateFile; logger: Logger }): BoundOperation {
  return bind(getSigningKeys, async () => {
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
  });
}
