import { conforms } from '@runyard/contracts';
import { AGENT_SERVER_LABEL, AGENT_SERVER_VERSION, RevisionStartError } from '@runyard/deployments';
import type { RevisionLog } from '@runyard/revision-logs';
import Type from 'typebox';
import type { PullCredential } from '../pull-credential.ts';
import { describeMissingEngine, lastLine, runEngine } from './engine-command.ts';

const ImageConfig = Type.Object({
  Labels: Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()])),
  Env: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
});

export interface ImageInspection {
  /** The engine's id of the image. It does not change when the tag moves. */
  id: string;
  hasCustomAuth: boolean;
  /** Variables that the image itself sets. */
  env: Record<string, string>;
}

/**
 * Pulls an image and checks that it is built from the base image.
 *
 * @throws RevisionStartError without an engine, without such an image, or when it is not built from the base image
 */
export async function fetchImage(
  command: string,
  imageUri: string,
  options: { log: RevisionLog; signal: AbortSignal; credential: PullCredential | undefined; configDir: string },
): Promise<ImageInspection> {
  const { log, signal, credential, configDir } = options;
  const version = await runEngine(command, ['version', '--format', '{{.Server.Version}}'], { signal });
  if (version.code !== 0) throw new RevisionStartError(describeMissingEngine(command, version.stderr));
  if (credential?.isEarlier) {
    log.write(`${credential.host} cannot be asked for ${imageUri}: what this machine has of it is run`, {
      source: 'engine',
    });
    return inspect(command, imageUri, signal);
  }
  const config = credential ? ['--config', configDir] : [];
  if (credential) {
    const { host, username, password } = credential;
    const login = ['login', '--username', username, '--password-stdin', host];
    const { code, stderr } = await runEngine(command, [...config, ...login], { signal, input: password });
    if (code !== 0)
      throw new RevisionStartError(`the registry ${host} does not let the engine in: ${lastLine(stderr)}`);
  }
  // The image is pulled even if the machine has it, because the registry decides whether it may still be used.
  const pull = await runEngine(command, [...config, 'pull', '--quiet', imageUri], { signal });
  for (const line of pull.stderr.split('\n').filter(Boolean)) log.write(line, { source: 'engine', level: 'ERROR' });
  if (pull.code !== 0) throw new RevisionStartError(`the image ${imageUri} cannot be pulled: ${lastLine(pull.stderr)}`);
  return inspect(command, imageUri, signal);
}

async function inspect(command: string, imageUri: string, signal: AbortSignal): Promise<ImageInspection> {
  const args = ['image', 'inspect', '--format', '{{.Id}} {{json .Config}}', imageUri];
  const { code, stdout, stderr } = await runEngine(command, args, { signal });
  if (code !== 0) throw new RevisionStartError(`the image ${imageUri} cannot be looked at: ${lastLine(stderr)}`);
  const [, id = '', json = ''] = /^(\S+) (.*)$/s.exec(stdout.trim()) ?? [];
  const config: unknown = JSON.parse(json || '{}');
  if (!conforms(ImageConfig, config)) throw new RevisionStartError(`the image ${imageUri} cannot be looked at`);
  if (config.Labels?.[AGENT_SERVER_LABEL] !== AGENT_SERVER_VERSION) {
    throw new RevisionStartError(
      `the image ${imageUri} is not built from runyard/agent-server: it has no label ${AGENT_SERVER_LABEL}=${AGENT_SERVER_VERSION}. ` +
        'Build it with `--base-image runyard/agent-server:20`',
    );
  }
  const env = Object.fromEntries((config.Env ?? []).map(nameAndValue));
  return { id, env, hasCustomAuth: hasAuthPath(env.LANGGRAPH_AUTH) };
}

function nameAndValue(variable: string): [string, string] {
  const end = variable.indexOf('=');
  return end < 0 ? [variable, ''] : [variable.slice(0, end), variable.slice(end + 1)];
}

/** Returns whether `LANGGRAPH_AUTH`, which builds set in images, is the `auth` of a langgraph.json with a path. */
function hasAuthPath(text: string | undefined): boolean {
  try {
    const auth: unknown = JSON.parse(text || '{}');
    return typeof auth === 'object' && auth !== null && typeof (auth as { path?: unknown }).path === 'string';
  } catch {
    return false;
  }
}
