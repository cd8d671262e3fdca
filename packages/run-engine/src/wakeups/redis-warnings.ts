/** Returns the faults of a Redis server that is used for queues, each in a sentence; empty when there is none. */
export async function findRedisWarnings(redis: { info(): Promise<string> }): Promise<string[]> {
  const info = await redis.info();
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const warnings: string[] = [];
  const policy = field('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    warnings.push(
      `Redis evicts keys when its memory is full (maxmemory-policy "${policy}"): wake-ups and run events may vanish. Set it to noeviction.`,
    );
  }
  const version = field('redis_version');
  if (version !== undefined && isOlder(version, [6, 2])) {
    warnings.push(`Redis ${version} is older than 6.2, which the queues need.`);
  }
  return warnings;
}

function isOlder(version: string, [major, minor]: [number, number]): boolean {
  const [hasMajor = 0, hasMinor = 0] = version.split('.').map(Number);
  return hasMajor < major || (hasMajor === major && hasMinor < minor);
}
