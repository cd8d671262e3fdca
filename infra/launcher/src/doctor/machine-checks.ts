import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import {
  findDocker,
  InfrastructureError,
  isKafkaNamed,
  isPortFree,
  lookForKafka,
  lookForPostgres,
  lookForRedis,
  nearestExisting,
  requireUnused,
} from '@runyard/local-infra';
import { type Check, missing, notNeeded, ok } from './check.ts';

/** The oldest Node.js, as package.json has it. */
const OLDEST_NODE = [20, 19] as const;
/** Systems that Postgres and Redis are published for. */
const PLATFORMS: ReadonlySet<string> = new Set(['linux', 'darwin']);
/** Bytes below which a first start runs out of space. */
const FREE_MIN = 512 * 1024 * 1024;

/** File systems of Linux that keep neither owners nor modes, without which Postgres refuses its data folder. */
const WITHOUT_OWNERS: ReadonlyMap<number, string> = new Map([
  [0x4d44, 'FAT'],
  [0x2011bab0, 'exFAT'],
  [0x5346544e, 'NTFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9P, as folders of Windows are'],
]);

const node: Check = {
  name: 'Node.js',
  async look() {
    const { node: version } = process.versions;
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
    return isOld
      ? missing(`${version}; install ${OLDEST_NODE.join('.')} or newer from https://nodejs.org`)
      : ok(version);
  },
};

const system: Check = {
  name: 'System',
  async look() {
    const name = `${process.platform} on ${process.arch}`;
    if (PLATFORMS.has(process.platform)) return ok(name);
    return missing(`${name}; use Linux or macOS, on Windows WSL 2`);
  },
};

const postgres: Check = {
  name: 'Postgres',
  look: async ({ environment, dataDir }) => ok(await lookForPostgres(environment, dataDir)),
};

const redis: Check = {
  name: 'Redis',
  look: async ({ environment }) => ok(await lookForRedis(environment)),
};

const kafka: Check = {
  name: 'Kafka',
  async look({ environment, kafka: isWanted }) {
    if (!isWanted && !isKafkaNamed(environment)) return notNeeded('events go over Redis without --kafka');
    return ok(await lookForKafka(environment));
  },
};

const port: Check = {
  name: 'Port',
  async look({ port: wanted, host }) {
    if (wanted === 0) return ok('any that is free');
    if (await isPortFree(wanted, host)) return ok(`${wanted} is free`);
    return missing(`${wanted} is taken: stop what uses it, or choose another with --port (0 takes a free one)`);
  },
};

const dataFolder: Check = {
  name: 'Data folder',
  async look({ dataDir }) {
    await requireUnused(dataDir);
    const folder = await nearestExisting(dataDir);
    if (!(await stat(folder)).isDirectory()) throw new InfrastructureError(`${folder} is no folder.`);
    const isWritable = await access(folder, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    );
    const advice = 'choose another with --data-dir';
    if (!isWritable) return missing(`${folder} cannot be written: ${advice}`);
    const { type, bavail, bsize } = await statfs(folder);
    const unusable = process.platform === 'linux' ? WITHOUT_OWNERS.get(type) : undefined;
    if (unusable) return missing(`${folder} is on ${unusable}, which keeps no owners of files: ${advice}`);
    const free = bavail * bsize;
    const shown = `${Math.round(free / 1024 / 1024)} MB free`;
    return free < FREE_MIN ? missing(`${folder} has ${shown}: make space, or ${advice}`) : ok(`${dataDir}, ${shown}`);
  },
};

const containerEngine: Check = {
  name: 'Container engine',
  async look({ environment }) {
    const docker = await findDocker(environment);
    const use = '`runyard deploy --no-remote` builds with it';
    return docker ? ok(`${docker}; ${use}`) : notNeeded(`none answers; only \`runyard deploy --no-remote\` needs one`);
  },
};

/** Checks of the machine, which hold for every project. */
export const MACHINE_CHECKS: readonly Check[] = [
  node,
  system,
  postgres,
  redis,
  kafka,
  port,
  dataFolder,
  containerEngine,
];
