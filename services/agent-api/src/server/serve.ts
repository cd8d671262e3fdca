import { OPEN_API_INFO, streamEvents } from '@runyard/contracts';
import {
  asksForOtherProtocol,
  type BoundOperation,
  createApp,
  type EarlyListener,
  type ErrorForm,
  isUnambiguousTarget,
  NotFoundError,
  type PrincipalVerifier,
  type ReadinessChecks,
  refuseUpgrade,
  type ServiceContext,
  serveWithoutUpgrade,
} from '@runyard/service-kit';
import { a2aErrorForm } from '../a2a/bindings/error-form.ts';
import { takeTenantOff } from '../a2a/bindings/tenants.ts';
import type { Authorizer } from '../auth/authorizer.ts';
import { documentedSecurity } from '../auth/documented-security.ts';
import type { StreamRights } from '../auth/stream-rights.ts';
import type { Config } from '../config.ts';
import { protocolErrorForm } from '../event-protocol/error-form.ts';
import type { ProtocolWebSockets } from '../event-protocol/protocol-web-sockets.ts';
import { takeClosingSlashOff } from '../http/closing-slashes.ts';
import type { HttpSettings } from '../http/http-settings.ts';
import { mcpErrorForm } from '../mcp/bindings/error-form.ts';
import type { ServedProject } from '../project/open-served-project.ts';
import { openProjectApp, type ProjectAppProxy } from '../project/project-app-proxy.ts';
import { ProjectWebSockets } from '../project/project-web-sockets.ts';
import type { OpenResponses } from '../streams/open-responses.ts';
import { prefixContinuation, serveBelow, urlBelow } from './mount-prefix.ts';

/** Milliseconds that answers broken off after the grace period take to get out. */
const CUT_MS = 1_000;

/**
 * Answers requests: the project's own app comes first, then the operations, everything below the mount prefix. Resolves
 * with the app.
 *
 * @throws GraphLoadError when the project's app cannot be loaded
 */
export async function serveRequests(parts: {
  config: Config;
  context: ServiceContext;
  settings: HttpSettings;
  principal: PrincipalVerifier;
  /** Asks the handlers of the project's `auth.path`; undefined for a project without. */
  authorizer: Authorizer | undefined;
  rights: StreamRights | undefined;
  served: Pick<ServedProject, 'project' | 'host' | 'loopback'>;
  operations: BoundOperation[];
  readiness: ReadinessChecks;
  earlyListener: EarlyListener;
  /** The answers that a stop ends. */
  open: OpenResponses;
  protocolSockets: ProtocolWebSockets;
}): Promise<ProjectAppProxy | undefined> {
  const { config, context, settings, principal, authorizer, rights, operations, readiness } = parts;
  const { project, host, loopback } = parts.served;
  const projectApp = await openProjectApp(project.app, {
    host,
    loopback,
    principal,
    authorizer,
    rights,
    http: settings,
    operations,
    config,
  });
  if (projectApp && authorizer && settings.customRoutes === 'open') {
    context.logger.warn('http.enable_custom_route_auth is false: routes of the project are open to everybody');
  }
  if (projectApp) context.lifecycle.onStop('project app', () => projectApp.close());
  const app = createApp({
    context,
    principal,
    cors: settings.cors,
    isInner: loopback.isInner,
    loggedHeaders: settings.loggedHeaders,
    isExcluded: settings.isDisabled,
    before: [
      loopback.labelOuterRoute,
      ...(projectApp ? [projectApp.handler] : []),
      prefixContinuation(settings.mountPrefix),
      takeTenantOff,
      takeClosingSlashOff,
    ],
    metricsPrefix: 'lg_api_',
    bodyLimitBytes: config.HTTP_MAX_REQUEST_BODY_BYTES,
    openApi: OPEN_API_INFO['agent-server'],
    additionalOpenApi: projectApp?.openApi,
    security: documentedSecurity(project),
    readiness,
    operations,
    errorForm,
  });
  loopback.serve(app);
  serveWebSockets(projectApp, parts);
  const graceMs = config.BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS * 1000;
  parts.earlyListener.serve(serveBelow(settings.mountPrefix, app), {
    onClosed: () => {
      parts.protocolSockets.close();
      parts.open.endAll(graceMs);
    },
    drainMs: graceMs + CUT_MS,
  });
  return projectApp;
}

const ERROR_FORMS = [a2aErrorForm, mcpErrorForm, protocolErrorForm];

/** Gives errors the form of the protocol that a path belongs to. */
const errorForm: ErrorForm = (req, reply) => {
  for (const form of ERROR_FORMS) {
    const formed = form(req, reply);
    if (formed !== reply) return formed;
  }
  return reply;
};

/** Answers upgrades: to the event protocol here, to others in the project's app. The rest is served without. */
function serveWebSockets(
  app: ProjectAppProxy | undefined,
  parts: {
    context: ServiceContext;
    settings: HttpSettings;
    earlyListener: EarlyListener;
    principal: PrincipalVerifier;
    protocolSockets: ProtocolWebSockets;
  },
): void {
  const { principal, protocolSockets, settings, earlyListener } = parts;
  const { server } = earlyListener;
  const { lifecycle, logger } = parts.context;
  const ofApp = app?.hasWebSockets
    ? new ProjectWebSockets({ target: app.admitWebSocket, lifecycle, logger })
    : undefined;
  server.on('upgrade', (req, socket, head) => {
    const { url: target = '/' } = req;
    const url = isUnambiguousTarget(target) ? urlBelow(settings.mountPrefix, target) : null;
    const isOfProtocol = url !== null && protocolSockets.isFor({ url }) && !settings.isDisabled(streamEvents);
    if (!asksForOtherProtocol(req) || (!isOfProtocol && !ofApp)) {
      serveWithoutUpgrade(server, req, socket, head);
    } else if (url === null) {
      refuseUpgrade(socket, new NotFoundError('Not Found'));
    } else {
      req.url = url;
      if (isOfProtocol) protocolSockets.onUpgrade(req, socket, head, principal);
      else ofApp!.onUpgrade(req, socket, head);
    }
  });
}
