import { arch } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { AGENT_SERVER_LABEL, AGENT_SERVER_VERSION, BuildError } from '@runyard/deployments';
import { digestOf } from '@runyard/image-registry';
import Type from 'typebox';
import { type Descriptor, ImageConfig, ImageIndex, ImageManifest, parseJson } from './image-content.ts';
import type { ImageSource } from './image-source.ts';

/** The current image that projects are put on. */
export interface BaseImage {
  /** The operator's name for the image. */
  name: string;
  /**
   * The digest of its manifest for this machine's architecture, because packages that were installed here run on no
   * other.
   */
  digest: string;
  config: ImageConfig;
  layers: Descriptor[];
  source: ImageSource;
}

/** Image names of architectures, by their Node.js names where these differ. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
const CONFIG_LIMIT_BYTES = 1024 * 1024;

/**
 * Reads the base image's manifest and configuration, without fetching its layers.
 *
 * @param version a tag or a digest
 * @throws BuildError when the image cannot be read, or no project can be put on it
 */
export async function readBaseImage(
  name: string,
  source: ImageSource,
  version: string,
  signal: AbortSignal,
): Promise<BaseImage> {
  const { digest, manifest } = await fetchManifest(name, source, version, signal);
  const { size } = manifest.config;
  if (size > CONFIG_LIMIT_BYTES) throw new BuildError(`The configuration of ${name} is larger than any image's`);
  const content = await buffer(await source.blob(manifest.config.digest, signal));
  checkDigest(content, manifest.config.digest, name);
  const config = parseJson(ImageConfig, content, `The configuration of ${name}`);
  const architecture = ARCHITECTURES[arch()] ?? arch();
  if (config.os !== 'linux' || config.architecture !== architecture) {
    const machine = `${config.os}/${config.architecture}`;
    throw new BuildError(`${name} is for ${machine}, and what is built here runs on linux/${architecture}`);
  }
  if (config.config?.Labels?.[AGENT_SERVER_LABEL] !== AGENT_SERVER_VERSION) {
    const label = `${AGENT_SERVER_LABEL}=${AGENT_SERVER_VERSION}`;
    throw new BuildError(`PROJECT_BASE_IMAGE ${name} is not runyard/agent-server: it has no label ${label}`);
  }
  checkNode(name, config);
  if (config.rootfs.diff_ids.length !== manifest.layers.length) {
    throw new BuildError(`${name} has other layers than its configuration says`);
  }
  return { name, digest, config, layers: manifest.layers, source };
}

/** Checks the major version of Node.js, for which packages with native code are installed. @throws BuildError */
function checkNode(name: string, { config }: ImageConfig): void {
  const [, major] = config?.Env?.map((variable) => /^NODE_VERSION=v?(\d+)\./.exec(variable)).find(Boolean) ?? [];
  const [own] = process.versions.node.split('.');
  if (major === undefined || major === own) return;
  throw new BuildError(`${name} has Node.js ${major}, and packages are installed here for Node.js ${own}`);
}

/** Returns the manifest of an image. Of a list for several architectures, it returns the one for this machine's. */
async function fetchManifest(
  name: string,
  source: ImageSource,
  version: string,
  signal: AbortSignal,
): Promise<{ digest: string; manifest: ImageManifest }> {
  const content = await source.manifest(version, signal);
  const digest = digestOf(content);
  if (version.includes(':')) checkDigest(content, version, name);
  if (!isIndex(content)) return { digest, manifest: parseJson(ImageManifest, content, `The manifest of ${name}`) };
  const { manifests } = parseJson(ImageIndex, content, `The manifest of ${name}`);
  const architecture = ARCHITECTURES[arch()] ?? arch();
  const found = manifests.find(({ platform }) => platform?.os === 'linux' && platform.architecture === architecture);
  if (!found) throw new BuildError(`${name} is not there for linux/${architecture}`);
  const chosen = await source.manifest(found.digest, signal);
  checkDigest(chosen, found.digest, name);
  return { digest: found.digest, manifest: parseJson(ImageManifest, chosen, `The manifest of ${name}`) };
}

function isIndex(content: Buffer): boolean {
  return 'manifests' in parseJson(Type.Object({}), content, 'What the registry gives');
}

/** @throws BuildError when the content does not have the digest */
function checkDigest(content: Buffer, digest: string, name: string): void {
  if (digestOf(content, digest) !== digest)
    throw new BuildError(`A part of ${name} is not what its digest says: ${digest}`);
}
