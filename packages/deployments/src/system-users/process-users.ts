/** Matches the ids of a process' user in its status: the real, the effective, the saved one, and that of files. */
const USER_IDS = /^Uid:\t(\d+)\t(\d+)\t(\d+)\t(\d+)$/m;

/** @param status the text of `/proc/<pid>/status` */
export function isOfUser(status: string, uid: number): boolean {
  return USER_IDS.exec(status)?.slice(1).includes(String(uid)) ?? false;
}
