import type { PlatformSettings } from '../deployment-variables.ts';
import type { RevisionSpec } from '../driver.ts';

/** The name by which containers know the machine they run on. */
export const MACHINE_NAME = 'host.docker.internal';

/** Where a server listens. */
export interface Endpoint {
  host: string;
  port: number;
}

/** What a revision is told of the servers around it. */
export interface Addresses {
  spec: RevisionSpec;
  platform: PlatformSettings;
}

const DEFAULT_PORTS: Record<string, number> = {
  'postgres:': 5432,
  'postgresql:': 5432,
  'redis:': 6379,
  'rediss:': 6379,
  'http:': 80,
  'https:': 443,
};

/** Where the server of a URL listens. */
export function endpointOf(uri: string): Endpoint {
  const { protocol, hostname, port } = new URL(uri);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (DEFAULT_PORTS[protocol] ?? 0) };
}

/** The servers of the revision that listen on this machine's loopback interface: no container reaches them there. */
export function loopbackEndpoints({ spec, platform }: Addresses): Endpoint[] {
  const { kafkaBrokers = '' } = platform.eventBus;
  const uris = [spec.databaseUri, spec.redisUri, platform.jwksUrl];
  const brokers = kafkaBrokers.split(',').filter(Boolean);
  const endpoints = [...uris, ...brokers.map((broker) => `kafka://${broker.trim()}`)].map(endpointOf);
  return endpoints.filter(({ host }) => isLoopback(host));
}

/**
 * The same servers as containers find them. Deployments' public URL stays: it is for clients. Brokers tell where they are
 * themselves, so theirs stay too, and who connects to them is told what to make of them.
 */
export function asSeenFromContainers({ spec, platform }: Addresses): Addresses {
  const { eventBus } = platform;
  return {
    spec: { ...spec, databaseUri: throughMachine(spec.databaseUri), redisUri: throughMachine(spec.redisUri) },
    platform: {
      ...platform,
      jwksUrl: throughMachine(platform.jwksUrl),
      eventBus: {
        ...eventBus,
        ...(eventBus.kafkaBrokers && { kafkaLoopbackHost: MACHINE_NAME }),
      },
    },
  };
}

function throughMachine(uri: string): string {
  const url = new URL(uri);
  if (!isLoopback(endpointOf(uri).host)) return uri;
  url.hostname = MACHINE_NAME;
  return url.href;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host);
}
