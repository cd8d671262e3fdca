import {
  BUILD_CONTENT_TYPE,
  type BuildUrlQuery,
  endBuild,
  fetchBuildSource,
  orderBuild,
  putBuildArchive,
  reportBuild,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok, reserveStreamBuffers, sendStream } from '@runyard/service-kit';
import type { BuildOrders, OrderName } from './build-orders.ts';
import type { BuildUrlPurpose, BuildUrls } from './build-urls.ts';

/** Binds what builders ask. The signatures of their URLs are checked here. */
export function buildRoutes(orders: BuildOrders, urls: BuildUrls): BoundOperation[] {
  const check = (purpose: BuildUrlPurpose, params: { revision_id: string }, query: BuildUrlQuery): OrderName => {
    const revisionId = params.revision_id.toLowerCase();
    urls.check(purpose, revisionId, query);
    return { revisionId, epoch: query.epoch };
  };
  return [
    bind(orderBuild, async ({ params, query, signal }) => {
      return ok({ order: await orders.order(check('order', params, query), signal) });
    }),
    bind(reportBuild, async ({ params, query, body }) => ok(await orders.report(check('report', params, query), body))),
    bind(endBuild, async ({ params, query, body, signal }) => {
      return ok({ is_accepted: await orders.end(check('end', params, query), body, signal) });
    }),
    bind(fetchBuildSource, async ({ params, query, signal, res }) => {
      const archive = await orders.openSource(check('source', params, query), signal);
      reserveStreamBuffers(res);
      await sendStream(archive, res.type(BUILD_CONTENT_TYPE));
    }),
    bind(putBuildArchive, async ({ params, query, raw, res }) => {
      const name = check('archive', params, query);
      reserveStreamBuffers(res);
      await orders.receiveArchive(name, raw);
      return { status: 200 };
    }),
  ];
}
