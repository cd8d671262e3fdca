import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { PushToken } from '@runyard/contracts';
import { buildImages, runDocker } from '../containers/engine.ts';
import { runProgram } from './kubectl.ts';

/** Images are `<REGISTRY>/<service>:<tag>`. */
const REGISTRY = 'runyard-test';
/** The base image of deployments, which is no service's. */
const BASE = 'agent-server';

export interface Images {
  registry: string;
  tag: string;
  /** The name of the image that projects are put on. */
  base: string;
  /** Removes them from the engine. The node removes those that it has when it needs the space. */
  remove(): Promise<void>;
}

/**
 * Builds the images of services and the base image, and brings those of the services into the cluster.
 * `RUNYARD_TEST_IMAGE_TAG` names the tag of images that are built already, and stay.
 */
export async function prepareImages(services: string[]): Promise<Images> {
  const given = process.env.RUNYARD_TEST_IMAGE_TAG;
  const tag = given ?? 'test';
  const nameOf = (image: string) => `${REGISTRY}/${image}:${tag}`;
  const names = services.map(nameOf);
  const base = nameOf(BASE);
  if (given === undefined) await buildImages([...services, BASE], { registry: REGISTRY, tag });
  await load(names);
  const remove = async () => {
    if (given === undefined) await runDocker('image', 'rm', ...names, base);
  };
  return { registry: REGISTRY, tag, base, remove };
}

/** Calls the command that brings images of the engine into the cluster, as `kind load docker-image` does. */
async function load(names: string[]): Promise<void> {
  const [program = '', ...words] = (process.env.RUNYARD_TEST_LOAD_IMAGES ?? '').split(' ').filter(Boolean);
  console.log(`bringing ${names.length} images into the cluster`);
  await runProgram(program, [...words, ...names]);
}

/** Pushes an image to the platform's registry with the token of a deployment; returns its name there. */
export async function pushImage(image: string, token: PushToken): Promise<string> {
  const name = `${token.registry_url}/agent-server:20`;
  const folder = await mkdtemp(path.join(tmpdir(), 'runyard-login-'));
  const login = ['login', '--username', 'oauth2accesstoken', '--password-stdin', name.split('/')[0] as string];
  try {
    await runProgram('docker', ['--config', folder, ...login], token.token);
    await runDocker('tag', image, name);
    await runDocker('--config', folder, 'push', '--quiet', name);
  } finally {
    await runDocker('image', 'rm', name).catch(() => undefined);
    await rm(folder, { recursive: true });
  }
  return name;
}

/** Removes from the engine what was pushed to the platform's registry from here. */
export async function removePushedImages(registryUrl: string): Promise<void> {
  const listed = await runDocker('image', 'ls', '--format', '{{.Repository}}:{{.Tag}}');
  const pushed = listed.split('\n').filter((name) => name.startsWith(`${new URL(registryUrl).host}/registry/`));
  if (pushed.length > 0) await runDocker('image', 'rm', ...pushed);
}
