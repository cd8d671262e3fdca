import { basename, resolve } from 'node:path';
import type { Deployment, DeploymentType, Secret } from '@runyard/contracts';
import { CliError, ExitCode, InterruptedError } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { type ConnectionFlags, type ControlPlaneConnection, connect } from '../connection/connect.ts';
import { findVariable, NAME_VARIABLES } from '../connection/settings.ts';
import { Engine } from '../docker/engine.ts';
import type { Progress } from '../output/progress-event.ts';
import { Steps } from '../output/steps.ts';
import { toDeploymentName } from '../project/deployment-name.ts';
import { type DeployableProject, openProject } from '../project/project.ts';
import { collectSecrets } from '../project/secrets.ts';
import { type BuildMode, chooseBuildMode } from './build-mode.ts';
import { followRevision } from './follow-revision.ts';
import { pushImage } from './local-build.ts';
import { type ChangedDeployment, makeRevision } from './make-revision.ts';
import { sendSource } from './remote-build.ts';
import { reportResult } from './report-result.ts';

export interface DeployFlags extends ConnectionFlags {
  config?: string;
  name?: string;
  deploymentId?: string;
  deploymentType?: DeploymentType;
  remote?: boolean;
  installCommand?: string;
  buildCommand?: string;
  image?: string;
  baseImage?: string;
  imageName?: string;
  tag: string;
  /** False with `--no-wait`. */
  wait: boolean;
  /** Seconds to wait. */
  timeout: number;
}

interface Work {
  flags: DeployFlags;
  context: CommandContext;
  project: DeployableProject;
  connection: ControlPlaneConnection;
  steps: Steps;
}

/**
 * Deploys a folder: creates the deployment when there is none of its name, else updates it in place.
 *
 * @returns the exit code
 */
export async function deploy(flags: DeployFlags, context: CommandContext, progress: Progress): Promise<number> {
  refuseIgnoredFlags(flags);
  const project = await openProject(resolve(context.cwd, flags.config ?? '.'));
  const connection = await connect({ flags, project: project.env, folder: project.folder, context });
  try {
    return await deployWith({ flags, context, project, connection, steps: new Steps(progress) });
  } finally {
    await connection.http.close();
  }
}

async function deployWith(work: Work): Promise<number> {
  const { project, connection, steps } = work;
  for (const warning of project.warnings) steps.note(warning);
  const { secrets, leftOut } = collectSecrets(project.env, connection.apiKey);
  if (leftOut.length > 0) steps.note(`Not sent as secrets: ${leftOut.join(', ')}.`);
  const name = nameOf(work);
  const existing = await findDeployment(work, name);
  const engine = new Engine(work.context);
  const mode = await chooseBuildMode({
    asked: work.flags.remote,
    existing,
    hasImage: work.flags.image !== undefined,
    findObstacle: () => engine.obstacle(work.flags.baseImage),
  });
  steps.note(mode.why);
  const ofImages = mode.isRemote ? listGiven(work.flags, { baseImage: '--base-image', imageName: '--image-name' }) : [];
  if (ofImages.length > 0) steps.warn(`${ofImages.join(' and ')}: of images built here. The platform does without.`);
  const { id } = existing ?? (await createDeployment(work, name, mode, secrets));
  const { installCommand, buildCommand, image, baseImage, imageName = name, tag, verbose = false } = work.flags;
  const { interrupted } = work.context;
  const source = {
    ...connection,
    steps,
    project,
    deploymentId: id,
    secrets,
    installCommand,
    buildCommand,
    interrupted,
  };
  const body = mode.isRemote
    ? await sendSource(source)
    : await pushImage({ ...source, engine, image, baseImage, imageName, tag, verbose });
  steps.begin('Making a revision');
  return follow(work, mode, await makeRevision(connection.controlPlane, id, body));
}

/** Refuses flags for a build when an existing image is deployed. @throws CliError */
function refuseIgnoredFlags(flags: DeployFlags): void {
  if (flags.image === undefined) return;
  const names = { installCommand: '--install-command', buildCommand: '--build-command', baseImage: '--base-image' };
  const vain = listGiven(flags, names);
  if (vain.length > 0) throw new CliError(`--image is built already: leave ${vain.join(' and ')} out.`, ExitCode.usage);
}

function listGiven<Name extends keyof DeployFlags>(flags: DeployFlags, names: Record<Name, string>): string[] {
  return (Object.keys(names) as Name[]).filter((name) => flags[name] !== undefined).map((name) => names[name]);
}

/** Takes the name from the flag, the variable or the folder. */
function nameOf({ flags, context, project, steps }: Work): string {
  const wanted = flags.name ?? findVariable(NAME_VARIABLES, project.env, context.env);
  const name = toDeploymentName(wanted ?? basename(project.folder));
  if (wanted !== undefined && wanted !== name && !flags.deploymentId) steps.note(`The name is written ${name}.`);
  return name;
}

async function findDeployment({ flags, connection, steps }: Work, name: string): Promise<Deployment | undefined> {
  const { controlPlane } = connection;
  steps.begin(
    flags.deploymentId ? `Looking for the deployment ${flags.deploymentId}` : `Looking for a deployment ${name}`,
  );
  const found = flags.deploymentId
    ? await controlPlane.getDeployment(flags.deploymentId)
    : await controlPlane.findDeployment(name);
  if (!found) {
    steps.info('There is none yet.');
    return undefined;
  }
  steps.info(`It is there: ${found.name}, ${found.id}.`, { deployment_id: found.id });
  const type = found.source_config.deployment_type;
  if (flags.deploymentType && type && type !== flags.deploymentType) {
    steps.warn(`It is of the type ${type} and stays so: a deployment's type cannot change.`);
  }
  return found;
}

async function createDeployment(
  { flags, connection, steps }: Work,
  name: string,
  { isRemote }: BuildMode,
  secrets: Secret[],
): Promise<Deployment> {
  const type = flags.deploymentType ?? 'dev';
  steps.begin(`Creating the deployment ${name} of type ${type}`);
  const created = await connection.controlPlane.createDeployment({
    name,
    source: isRemote ? 'internal_source' : 'internal_docker',
    source_config: { deployment_type: type },
    source_revision_config: {},
    secrets,
  });
  steps.info(`Its id is ${created.id}.`, { deployment_id: created.id });
  return created;
}

/** Waits for the revision, unless the user does not want that, and reports the result. */
async function follow(work: Work, mode: BuildMode, { deployment, revisionId }: ChangedDeployment): Promise<number> {
  const { flags, context, connection, steps } = work;
  const { controlPlane } = connection;
  const { progress } = steps;
  steps.info(`Revision ${revisionId}.`, { revision_id: revisionId });
  const statusUrl = controlPlane.url + controlPlane.revisionPath(deployment.id, revisionId);
  progress.report({ event: 'status_url', url: statusUrl });
  const about = { controlPlane, progress, deployment, revisionId, statusUrl };
  if (!flags.wait) return reportResult({ ...about, revision: 'not waited for' });
  steps.begin('Waiting for it');
  try {
    const revision = await followRevision({
      controlPlane,
      progress,
      deploymentId: deployment.id,
      revisionId,
      isRemoteBuild: mode.isRemote,
      verbose: flags.verbose ?? false,
      timeoutMs: flags.timeout * 1_000,
      pollMs: context.pollMs,
      interrupted: context.interrupted,
    });
    return await reportResult({ ...about, revision: revision ?? 'timed out' });
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    steps.warn(
      `The platform goes on without this command. To see: runyard deploy revisions list ${deployment.id}, or runyard deploy logs --deployment-id ${deployment.id}.`,
    );
    throw error;
  }
}
