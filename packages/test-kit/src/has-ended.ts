/** Returns whether no process has this number. Meant for what a test run that was killed has left. */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
