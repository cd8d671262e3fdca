import type { PlatformSettings } from '../deployment-variables.ts';
import type { RevisionSpec } from '../driver.ts';

/** The name under which containers reach the machine they run on. */
export const MACHINE_NAME = 'host.docker.internal';

/** The host and port of a server. */
export interface Endpoint {
  host: string;
  port: number;
}

/** The variables of a revision that contain addresses of servers. */
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

/** Returns the host and port of a URL, with the default port of its protocol. */
export function endpointOf(uri: string): Endpoint {
  const { protocol, hostname, port } = new URL(uri);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (DEFAULT_PORTS[protocol] ?? 0) };
}

/** Returns the revision's servers on this machine's loopback interface, where no container reaches them. */
export function loopbackEndpoints({ spec, platform }: Addresses): Endpoint[] {
  const { kafkaBrokers = '' } = platform.eventBus;
  const uris = [spec.databaseUri, spec.redisUri, platform.jwksUrl];
  const brokers = kafkaBrokers.split(',').filter(Boolean);
  const endpoints = [...uris, ...brokers.map((broker) => `kafka://${broker.trim()}`)].map(endpointOf);
  return endpoints.filter(({ host }) => isLoopback(host));
}

/**
 * Returns the same addresses as containers reach them. The public URL stays, as it is for clients. The addresses of
 * Kafka brokers stay too, because brokers advertise their own; instead, their clients get the host that replaces a
 * loopback address.
 */
export function toContainerAddresses({ spec, platform }: Addresses): Addresses {
  const { eventBus } = platform;
  return {
    spec: { ...spec, databaseUri: replaceLoopback(spec.databaseUri), redisUri: replaceLoopback(spec.redisUri) },
    platform: {
      ...platform,
      jwksUrl: replaceLoopback(platform.jwksUrl),
      eventBus: {
        ...eventBus,
        ...(eventBus.kafkaBrokers && { kafkaLoopbackHost: MACHINE_NAME }),
      },
    },
  };
}

function replaceLoopback(uri: string): string {
  const url = new URL(uri);
  if (!isLoopback(endpointOf(uri).host)) return uri;
  url.hostname = MACHINE_NAME;
  return url.href;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host);
}
