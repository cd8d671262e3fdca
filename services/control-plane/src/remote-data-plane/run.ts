import { getSigningKeys, type PodRules as ReportedPodRules } from '@runyard/contracts';
import { Cipher } from '@runyard/encryption';
import { ConfigError, createApp, openEarlyListener, type ServiceContext } from '@runyard/service-kit';
import type { PodRules } from '../compute/pod-overrides.ts';
import { openDataPlane } from '../data-plane/open-data-plane.ts';
import { HostNames } from '../deployments/host-names.ts';
import { type AnyDriverRow, chooseDrivers, findPodRules } from '../drivers/drivers.ts';
import { openLogs } from '../logs/open-logs.ts';
import { ReferencedSecrets } from '../secrets/secret-references.ts';
import { SecretSets } from '../secrets/secret-set.ts';
import type { Config } from './config.ts';
import { ControlPlaneClient, type ControlPlaneRefusedError, type Credentials } from './control-plane-client.ts';
import { ControlPlaneLink } from './control-plane-link.ts';
import { ForwardedLogs } from './forwarded-logs.ts';
import { ForwardedSamples } from './forwarded-samples.ts';
import { ingressRoutes } from './ingress-routes.ts';
import { LocalScaleStore } from './local-scale-store.ts';
import { PlatformBuilds } from './platform-builds.ts';
import { ProjectFolderDriver } from './project-folder-driver.ts';
import { PullTokenClient } from './pull-token-client.ts';
import { RemoteRolloutStore } from './remote-rollout-store.ts';
import { StateFile } from './state-file.ts';

const VERSION = '0.1.0';
/** Milliseconds between sweeps. They are a safety net: changes wake the reconciler when they arrive. */
const SWEEP_MS = 30_000;

/** Runs the deployments of one listener of a remote platform. This process only opens connections itself. */
export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle, logger } = context;
  const credentials = credentialsOf(config);
  const drivers = chooseDrivers(config);
  const cipher = new Cipher(config.ENCRYPTION_KEY);
  const secrets = new SecretSets(cipher);
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  const stateFile = await StateFile.open(config.DATA_DIR, cipher);
  const { instanceId } = stateFile.state;

  const client = new ControlPlaneClient({
    url: config.CONTROL_PLANE_URL,
    listenerId: config.LISTENER_ID,
    credentials,
  });
  let lost: ControlPlaneRefusedError | undefined;
  const link = new ControlPlaneLink({
    client,
    instanceId,
    version: VERSION,
    publicUrl: config.PUBLIC_URL ?? null,
    podRules: toReportedPodRules(findPodRules(drivers, config)),
    onDesired: async (deployments) => {
      for (const id of await store.accept(deployments)) dataPlane.reconciler.wake(id);
    },
    onLost: (refusal) => {
      lost = refusal;
      logger.error('listener lost, ending all deployments', { reason: refusal.message });
      void lifecycle.stop('this data plane has lost its listener');
    },
    logger,
  });
  const imagesOutliveProcess = drivers.some(({ accepts, outlivesProcess }) => accepts === 'image' && outlivesProcess);
  const store = new RemoteRolloutStore({ stateFile, client, link, secrets, imagesOutliveProcess, logger });
  const logs = new ForwardedLogs({ dataDir: config.DATA_DIR, client, link, logger });

  const dataPlane = await openDataPlane(
    config,
    {
      drivers: drivers.map((row) => limitToFolder(row, config.PROJECTS_DIR)),
      publicUrl: config.PUBLIC_URL ?? config.CONTROL_PLANE_URL,
      jwksUrl: config.PLATFORM_JWKS_URL ?? new URL(getSigningKeys.path, earlyListener.url).href,
      leaseOwner: instanceId,
      // The listener's lease covers all its deployments.
      ownership: { leaseMs: SWEEP_MS, acquire: async (ids) => new Set(ids), release: async () => undefined },
      sweepMs: SWEEP_MS,
      store,
      builds: new PlatformBuilds(store),
      openLog: openLogs(config, context, { onWritten: (owner) => logs.notifyWritten(owner) }),
      cipher,
      secrets,
      hosts: new HostNames({ publicUrl: config.PUBLIC_URL ?? config.CONTROL_PLANE_URL }),
      referenced: new ReferencedSecrets({ folder: config.SECRET_REFERENCES_DIR }),
      scales: new LocalScaleStore({ stateFile, logger }),
      samples: new ForwardedSamples({ client, link }),
      // Samples are not stored here.
      samplesMs: 0,
      credentials: new PullTokenClient({ stateFile, client, link, logger }).openCredentials,
      removeFiles: async (id, driver) => {
        if (store.runsImages(id)) await driver.removeLeftovers(id, store.namespaceOf(id));
      },
      // The data plane that took over the lease continues with revisions that outlive this process. After the
      // listener's deletion nobody does.
      stopOptions: () => (lost ? { graceMs: 0, isReleased: lost.isStale } : {}),
    },
    context,
  );
  // The link stops before the deployments, because their roll-outs may wait for reports.
  lifecycle.onStop('link to the control plane', async () => {
    const stopped = logs.stop();
    await link.stop();
    await stopped;
  });

  const app = createApp({
    context,
    internalToken: config.INTERNAL_TOKEN,
    operations: ingressRoutes({ store, client, link, stateFile, logger }),
  });
  earlyListener.serve(app);
  await link.begin();
  dataPlane.start();
  link.start();
  logs.start();
  lifecycle.ready();
}

/** Lets the driver run projects of this folder alone. */
function limitToFolder(row: AnyDriverRow, folder: string | undefined): AnyDriverRow {
  if (row.accepts !== 'project') return row;
  return { ...row, open: async (...options) => new ProjectFolderDriver(folder, await row.open(...options)) };
}

function toReportedPodRules(rules: PodRules | undefined): ReportedPodRules | null {
  return rules ? { metadata: [...rules.metadata], pull_secrets: [...rules.pullSecrets] } : null;
}

function credentialsOf({ LISTENER_KEY, API_KEY, WORKSPACE_ID }: Config): Credentials {
  if (LISTENER_KEY !== undefined) return { listenerKey: LISTENER_KEY };
  if (API_KEY !== undefined && WORKSPACE_ID !== undefined) return { apiKey: API_KEY, workspaceId: WORKSPACE_ID };
  throw new ConfigError(['LISTENER_KEY is required, or API_KEY with WORKSPACE_ID.']);
}
