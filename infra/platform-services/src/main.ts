import { service as controlPlane } from '@runyard/control-plane/service';
import { service as oauthBroker } from '@runyard/oauth-broker/service';
import { service as orgAccess } from '@runyard/org-access/service';
import { service as registry } from '@runyard/registry/service';
import { runServices } from '@runyard/service-kit';

/** None of them runs code of projects: a service that does has a process of its own, also on a laptop. */
await runServices([orgAccess, controlPlane, registry, oauthBroker]);
