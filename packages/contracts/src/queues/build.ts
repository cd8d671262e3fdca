import Type, { type Static } from 'typebox';
import { Uuid } from '../http/common.ts';
import { BuildPath } from '../http/control-plane/builds.ts';

/**
 * A revision waits to be built. The job says where the order is given, and nothing of the build: whether there is still
 * something to build is decided there.
 */
export const BuildJob = Type.Object(
  {
    revision_id: Uuid,
    /** Builds of one deployment follow each other. */
    deployment_id: Uuid,
    /** Signed: the first that asks there gets the order. */
    order_url: BuildPath,
  },
  {
    $id: 'BuildJob',
    examples: [
      {
        revision_id: '0192f7a0-0000-7000-8000-000000000002',
        deployment_id: '0192f7a0-0000-7000-8000-000000000001',
        order_url:
          '/internal/builds/0192f7a0-0000-7000-8000-000000000002/order?epoch=0&expires=1795262400&signature=c2lnbmF0dXJl',
      },
    ],
  },
);
export type BuildJob = Static<typeof BuildJob>;

/** BullMQ queue name. `REDIS_KEY_PREFIX` is in BullMQ's own `prefix` option. */
export const BUILD_QUEUE = 'builds-v1';
