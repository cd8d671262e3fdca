import { service as consoleService } from '@runyard/console/service';
import { service as controlPlane } from '@runyard/control-plane/service';
import { service as dataPlane } from '@runyard/data-plane/service';
import { service as gateway } from '@runyard/gateway/service';
import { service as oauthBroker } from '@runyard/oauth-broker/service';
import { service as orgAccess } from '@runyard/org-access/service';
import { service as registry } from '@runyard/registry/service';
import { service as runHistory } from '@runyard/run-history/service';
import { runServices } from '@runyard/service-kit';

/**
 * None of them runs code of projects: that has processes of its own, also on a laptop. The edge and the console stop
 * first, so that nobody asks the others through them; then deployments, which still report to those that they were made
 * and authenticated with.
 */
await runServices([
  [gateway, consoleService],
  [dataPlane],
  [orgAccess, controlPlane, registry, oauthBroker, runHistory],
]);
