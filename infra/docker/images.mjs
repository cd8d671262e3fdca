// Builds the images of the services and the base of deployments' images: `npm run images`. It needs an engine and git;
// nothing has to be installed, as the Dockerfiles do that.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requireContainerEngine } from '../bootstrap/container-engine.mjs';
import { repository, StepError } from '../bootstrap/steps.mjs';
import { buildImage, findBuilder } from './build-image.mjs';
import { readLabels } from './image-labels.mjs';

const DEFAULT_REGISTRY = 'runyard';
/** The base of deployments' images has its Node as a tag, too: builds of projects name it so. */
const BASE_IMAGE = {
  name: 'agent-server',
  dockerfile: 'infra/docker/agent-server/Dockerfile',
  description: 'The base of images that deployments run: agent-api, run-worker and what projects need.',
  tags: ['20'],
};
const OPTIONS = {
  tag: { type: 'string' },
  registry: { type: 'string' },
  platform: { type: 'string' },
  network: { type: 'string' },
  push: { type: 'boolean' },
};

/**
 * Builds every image, or those that are named, and prints a line for each: its name, its digest or id, and its size.
 *
 * @param args `[--tag TAG] [--registry PREFIX] [--push] [--platform P,…] [--network NAME] [NAME…]`. The tag is by default
 *   the version; `network` is what the steps of a build reach, as `docker build` takes it.
 * @throws StepError where an argument is wrong, there is no engine, or a build fails
 */
export async function buildImages(args) {
  const { tag, registry = DEFAULT_REGISTRY, push = false, platform, network, images } = parse(args);
  await requireContainerEngine();
  const builder = await findBuilder({ push, platform });
  for (const image of images) {
    const tags = tag === undefined ? [readManifest('packages/runyard').version, ...(image.tags ?? [])] : [tag];
    const names = tags.map((each) => `${registry.replace(/\/+$/, '')}/${image.name}:${each}`);
    const { dockerfile } = image;
    const labels = readLabels(image);
    const { digest, bytes } = await buildImage(builder, { names, dockerfile, labels, push, platform, network });
    const size = bytes === undefined ? 'pushed' : `${(bytes / 1e6).toFixed(0)} MB`;
    process.stdout.write(`${names.join(' ')}  ${digest}  ${size}\n`);
  }
}

function parse(args) {
  const { values, positionals } = parseOptions(args);
  if (values.push && !values.registry) {
    throw new StepError('Say where to push: `npm run images -- --push --registry registry.example.com/runyard`.');
  }
  const all = listImages();
  const unknown = positionals.filter((name) => !all.some((image) => image.name === name));
  if (unknown.length > 0) {
    const known = all.map(({ name }) => name).join(', ');
    throw new StepError(`There is no image ${unknown.join(', ')}, only ${known}.`);
  }
  const images = positionals.length > 0 ? all.filter(({ name }) => positionals.includes(name)) : all;
  return { ...values, images };
}

function parseOptions(args) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new StepError(
      `npm run images takes --tag, --registry, --push, --platform, --network and names of images: ${error.message}`,
    );
  }
}

/** Returns an image for each service, and the base of deployments' images. */
function listImages() {
  const services = readdirSync(join(repository, 'services'))
    .map((name) => ({ name, folder: `services/${name}`, dockerfile: `services/${name}/Dockerfile` }))
    .filter(({ dockerfile }) => existsSync(join(repository, dockerfile)))
    .map(({ name, folder, dockerfile }) => ({ name, dockerfile, description: readManifest(folder).description }));
  return [...services, BASE_IMAGE];
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(repository, folder, 'package.json'), 'utf8'));
}
