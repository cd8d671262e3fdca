import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository, StepError } from '../bootstrap/steps.mjs';

const PREFIX = 'org.opencontainers.image.';
const HUB = 'docker.io';

/**
 * Returns the labels of an image as the image specification of OCI names them. They depend on the checkout alone, so
 * that two builds of one commit have the same: the image was `created` when its commit was.
 *
 * @throws StepError where git does not say which commit the checkout has
 */
export function readLabels({ name, description, dockerfile }) {
  const { version } = readJson('packages/runyard/package.json');
  const { license } = readJson('package.json');
  const values = {
    title: `Runyard ${name}`,
    description,
    version,
    ...readCommit(repository),
    licenses: license,
    'base.name': qualifyImage(readBase(readFileSync(join(repository, dockerfile), 'utf8'))),
  };
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [`${PREFIX}${key}`, value]),
  );
}

/**
 * Returns the `revision` of a checkout, which ends with `-dirty` when files differ from it, when it was `created`, and
 * its `source`, where its remote `origin` has an address on the web.
 *
 * @throws StepError where git does not say
 */
export function readCommit(folder) {
  const [hash, seconds] = git(folder, 'show', '--no-patch', '--format=%H %ct', 'HEAD').split(' ');
  // The configuration of a person may hide files that git does not know. The image gets them all the same.
  const isDirty = git(folder, 'status', '--porcelain', '--untracked-files=normal') !== '';
  return {
    revision: isDirty ? `${hash}-dirty` : hash,
    created: new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z'),
    source: readSource(folder),
  };
}

function readSource(folder) {
  try {
    return webAddressOf(git(folder, 'remote', 'get-url', 'origin'));
  } catch {
    // There is no such remote.
    return undefined;
  }
}

/** Returns where a browser finds a remote, without a login; undefined for one that is a folder. */
export function webAddressOf(remote) {
  const [, host, path] = /^[\w.-]+@([\w.-]+):(.+)$/.exec(remote) ?? [];
  const address = host ? `ssh://${host}/${path}` : remote;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (!['http:', 'https:', 'ssh:', 'git:'].includes(url.protocol)) return undefined;
  const origin = url.protocol.startsWith('http') ? `${url.protocol}//${url.host}` : `https://${url.hostname}`;
  return origin + url.pathname.replace(/\/?(\.git)?\/?$/, '');
}

/** Returns what the last stage of a Dockerfile is built from. */
function readBase(text) {
  return [...text.matchAll(/^FROM (?:--\S+ )*(\S+)/gm)].at(-1)[1];
}

/** Returns the name of an image with its registry, which the specification wants. */
export function qualifyImage(image) {
  const [first, ...rest] = image.split('/');
  if (rest.length === 0) return `${HUB}/library/${image}`;
  return /[.:]|^localhost$/.test(first) ? image : `${HUB}/${image}`;
}

function git(folder, ...args) {
  try {
    return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  } catch (error) {
    const reason = error.stderr?.trim() || error.message;
    throw new StepError(`Images are labelled with their commit, which git does not say: ${reason}`);
  }
}

function readJson(path) {
  return JSON.parse(readFileSync(join(repository, path), 'utf8'));
}
