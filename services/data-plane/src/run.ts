import { getSigningKeys, type PodRules as ReportedPodRules } from '@runyard/contracts';
import type { PodRules, RolloutDeployment } from '@runyard/deployments';
import {
  Artifacts,
  builtSources,
  findPodRules,
  ReferencedSecrets,
  runsArtifact,
  SecretSets,
} from '@runyard/deployments';
import { Cipher } from '@runyard/encryption';
import { openLogs } from '@runyard/revision-logs';
import { ConfigError, createApp, openEarlyListener, type ServiceContext } from '@runyard/service-kit';
import { PlatformBuilds } from './builds/platform-builds.ts';
import type { Config } from './config.ts';
import { openDataPlane } from './data-plane/open-data-plane.ts';
import { type AnyDriverRow, chooseDrivers } from './drivers/drivers.ts';
import { ProjectFolderDriver } from './drivers/project-folder-driver.ts';
import { ingressRoutes, keySetRoute } from './ingress/ingress-routes.ts';
import { ControlPlaneClient, type ControlPlaneRefusedError, type Credentials } from './link/control-plane-client.ts';
import { ControlPlaneLink } from './link/control-plane-link.ts';
import { ForwardedLogs } from './link/forwarded-logs.ts';
import { ForwardedSamples } from './link/forwarded-samples.ts';
import { SharedReports } from './link/shared-reports.ts';
import { PullTokenClient } from './pull-credentials/pull-token-client.ts';
import { claimFolder } from './state/folder-claim.ts';
import { LocalScaleStore } from './state/local-scale-store.ts';
import { RemoteRolloutStore } from './state/remote-rollout-store.ts';
import { StateFile } from './state/state-file.ts';

const VERSION = '0.1.0';
/** Milliseconds between sweeps. They are a safety net: changes wake the reconciler when they arrive. */
const SWEEP_MS = 30_000;
/** Milliseconds that the last lines of deployments get to be sent. */
const LAST_LINES_MS = 2_000;

/**
 * Runs the deployments of one listener of a remote platform, or, as one of the platform's own data planes, of those that no
 * listener has. This process only opens connections itself.
 */
export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle, logger } = context;
  const identity = identityOf(config);
  const drivers = chooseDrivers(config);
  const cipher = new Cipher(config.ENCRYPTION_KEY);
  const secrets = new SecretSets(cipher);
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  const giveUpFolder = await claimFolder(config.DATA_DIR);
  lifecycle.onStop('folder', giveUpFolder);
  const stateFile = await StateFile.open(config.DATA_DIR, cipher);
  const { instanceId } = stateFile.state;
  const isOfPlatform = identity.listenerId === undefined;

  const client = new ControlPlaneClient({
    url: config.CONTROL_PLANE_URL,
    speakerId: identity.listenerId ?? instanceId,
    credentials: identity.credentials,
  });
  let lost: ControlPlaneRefusedError | undefined;
  const link = new ControlPlaneLink({
    client,
    instanceId,
    version: VERSION,
    // Control-plane has both of the platform's own data planes in its configuration.
    publicUrl: isOfPlatform ? null : (config.PUBLIC_URL ?? null),
    podRules: isOfPlatform ? null : toReportedPodRules(findPodRules(drivers, config)),
    onDesired: async (deployments) => {
      const changed = await store.accept(deployments);
      void dataPlane.reconciler.checkOwnership();
      for (const id of changed) dataPlane.reconciler.wake(id);
    },
    ...(isOfPlatform
      ? { onRegained: () => store.reportRoutes() }
      : {
          onLost: (refusal) => {
            lost = refusal;
            logger.error('listener lost, ending all deployments', { reason: refusal.message });
            void lifecycle.stop('this data plane has lost its listener');
          },
        }),
    logger,
  });
  const imagesOutliveProcess = drivers.some(({ accepts, outlivesProcess }) => accepts === 'image' && outlivesProcess);
  const shared = isOfPlatform ? new SharedReports({ client, link, logger }) : undefined;
  const store = new RemoteRolloutStore({
    ...{ stateFile, client, link, shared, secrets, cipher, imagesOutliveProcess, logger },
  });
  const logs = new ForwardedLogs({ dataDir: config.DATA_DIR, client, link, logger });
  lifecycle.onStop('link to the control plane', async () => {
    await shared?.flush();
    // Another data plane may go on with the deployments, and has not the files of these logs.
    if (isOfPlatform) await logs.flush(LAST_LINES_MS);
    const logsStopped = logs.stop();
    if (isOfPlatform && (await link.release())) await store.forgetAll();
    link.stop();
    await logsStopped;
  });
  const publicUrl = config.PUBLIC_URL ?? config.CONTROL_PLANE_URL;
  // Builds for listeners are images always.
  const runsProjects = isOfPlatform && runsArtifact(drivers, 'project');
  const artifacts = new Artifacts(config.DATA_DIR);

  const dataPlane = await openDataPlane(
    config,
    {
      // The operator of this machine decides which projects a workspace may run here. The platform's own is control-plane's.
      drivers: isOfPlatform ? drivers : drivers.map((row) => limitToFolder(row, config.PROJECTS_DIR)),
      publicUrl,
      jwksUrl: config.PLATFORM_JWKS_URL ?? new URL(getSigningKeys.path, earlyListener.url).href,
      leaseOwner: instanceId,
      // One lease covers all deployments. Those of a listener have nobody else; another of the platform's data planes has
      // what is not desired here any more.
      ownership: {
        leaseMs: SWEEP_MS,
        acquire: async (ids) => new Set(isOfPlatform ? ids.filter((id) => store.has(id)) : ids),
        release: async () => undefined,
      },
      sweepMs: SWEEP_MS,
      store,
      builds: new PlatformBuilds({
        ...{ store, client, link, runsProjects },
        artifacts,
        sources: builtSources({ runsProjects: runsProjects || !isOfPlatform }),
      }),
      openLog: openLogs(config, context, { onWritten: (owner) => logs.notifyWritten(owner) }),
      cipher,
      secrets,
      publicUrlsOf: (deployment) =>
        isOfPlatform ? store.publicUrlsOf(deployment.id) : urlsBelow(publicUrl, deployment),
      referenced: new ReferencedSecrets({
        folder: config.SECRET_REFERENCES_DIR,
        ...(shared && { ofWorkspaces: { read: (tenant, keys) => shared.workspaceSecrets(tenant, keys) } }),
      }),
      scales: new LocalScaleStore({ stateFile, shared, logger }),
      samples: new ForwardedSamples({ client, link }),
      credentials: new PullTokenClient({ stateFile, client, link, logger }).openCredentials,
      removeFiles: async (id, driver) => {
        await artifacts.remove(id);
        await driver.removeLeftovers(id, { hasRunImages: store.runsImages(id), namespace: store.namespaceOf(id) });
      },
      // The data plane that took over the lease continues with revisions that outlive this process. After the
      // listener's deletion nobody does.
      stopOptions: () => (lost ? { graceMs: 0, isReleased: lost.isStale } : {}),
    },
    context,
  );
  // Roll-outs may wait for reports, and must not hold up the end of the deployments.
  lifecycle.onStop('waits for the control plane', () => link.beginStop());

  const app = createApp({
    context,
    ...(isOfPlatform ? {} : { internalToken: config.INTERNAL_TOKEN! }),
    operations: [
      keySetRoute({ client, link, stateFile, logger }),
      // Nobody asks the platform's own data planes: its gateway asks control-plane.
      ...(isOfPlatform ? [] : ingressRoutes({ store, client, link })),
    ],
  });
  earlyListener.serve(app);
  // Others may have taken deployments up while this process did not run.
  if (await link.begin()) await artifacts.keepDeployments(await store.allIds());
  dataPlane.start();
  link.start();
  logs.start();
  lifecycle.ready();
}

/** Returns the URLs of a listener's deployment at the gateway beside this data plane. */
function urlsBelow(publicUrl: string, { id, slug, name }: RolloutDeployment): string[] {
  const base = publicUrl.replace(/(?<!\/)\/+$/, '');
  return [id, slug, encodeURIComponent(name)].map((reference) => `${base}/deployments/${reference}`);
}

/** Lets the driver run projects of this folder alone. */
function limitToFolder(row: AnyDriverRow, folder: string | undefined): AnyDriverRow {
  if (row.accepts !== 'project') return row;
  return { ...row, open: async (...options) => new ProjectFolderDriver(folder, await row.open(...options)) };
}

function toReportedPodRules(rules: PodRules | undefined): ReportedPodRules | null {
  return rules ? { metadata: [...rules.metadata], pull_secrets: [...rules.pullSecrets] } : null;
}

/** The listener that this process speaks for; undefined for one of the platform's own data planes. */
interface Identity {
  listenerId: string | undefined;
  credentials: Credentials;
}

/** @throws ConfigError */
function identityOf(config: Config): Identity {
  const { DATA_PLANE_KEY, LISTENER_ID: listenerId, LISTENER_KEY, API_KEY, WORKSPACE_ID, PUBLIC_URL } = config;
  if (DATA_PLANE_KEY !== undefined) {
    if (listenerId !== undefined) throw new ConfigError(['DATA_PLANE_KEY and LISTENER_ID exclude each other.']);
    if (PUBLIC_URL === undefined) throw new ConfigError(['PUBLIC_URL is required with DATA_PLANE_KEY.']);
    return { listenerId: undefined, credentials: { key: DATA_PLANE_KEY } };
  }
  if (listenerId === undefined) throw new ConfigError(['LISTENER_ID is required, or DATA_PLANE_KEY.']);
  if (config.INTERNAL_TOKEN === undefined) throw new ConfigError(['INTERNAL_TOKEN is required with LISTENER_ID.']);
  if (LISTENER_KEY !== undefined) return { listenerId, credentials: { key: LISTENER_KEY } };
  if (API_KEY !== undefined && WORKSPACE_ID !== undefined)
    return { listenerId, credentials: { apiKey: API_KEY, workspaceId: WORKSPACE_ID } };
  throw new ConfigError(['LISTENER_KEY is required, or API_KEY with WORKSPACE_ID.']);
}
