/** The system user that the project's code runs as. It has no rights except those it is given. */
export interface HostUser {
  uid: number;
  gid: number;
}

/**
 * @param setting two numbers, such as `20000:20000`
 * @throws Error when this process may not start processes of that user
 */
export function hostUserOf(setting: string | undefined, ownUid = process.geteuid?.()): HostUser | undefined {
  if (setting === undefined) return undefined;
  const [uid, gid] = setting.split(':').map(Number) as [number, number];
  if (ownUid !== 0) throw new Error('GRAPH_HOST_USER can only be set where this service runs as root.');
  if (uid === 0 || gid === 0) throw new Error('GRAPH_HOST_USER must be a user and a group other than root.');
  return { uid, gid };
}
