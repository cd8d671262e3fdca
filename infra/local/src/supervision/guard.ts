import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * A shell that outlives the launcher by as much as it takes to stop what the launcher started. A pipe lists every
 * child, and the end of that pipe, however the launcher ended, is the order to stop those still listed: the last
 * started first, each with its own signal, ten seconds each; a negative process id is a whole group. It runs in a session of its own, so that neither Ctrl-C
 * nor a signal to the launcher's process group reaches it.
 */
const script = `
trap '' INT TERM HUP QUIT
listed=''
while read -r verb signal pid; do
  if [ "$verb" = add ]; then listed="$signal:$pid $listed"; continue; fi
  kept=''
  for entry in $listed; do [ "\${entry#*:}" = "$pid" ] || kept="$kept $entry"; done
  listed=$kept
done
for entry in $listed; do
  signal=\${entry%%:*} pid=\${entry#*:} tries=0
  kill -s "$signal" -- "$pid" 2>/dev/null || continue
  while kill -s 0 -- "$pid" 2>/dev/null && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -s KILL -- "$pid" 2>/dev/null
done
`;

export interface Guard {
  add(pid: number, stopSignal: NodeJS.Signals): void;
  drop(pid: number): void;
  /** Ends the guard, which stops the processes still listed. */
  close(): Promise<void>;
}

export function startGuard(): Guard {
  const shell: ChildProcess = spawn('/bin/sh', ['-c', script, 'runyard-guard'], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  const ended = once(shell, 'exit');
  const pipe = shell.stdin!;
  pipe.on('error', () => {}); // The guard was killed: the record of processes still serves the next start.
  return {
    add: (pid, stopSignal) => void pipe.write(`add ${stopSignal.slice(3)} ${pid}\n`),
    drop: (pid) => void pipe.write(`drop - ${pid}\n`),
    async close() {
      shell.ref();
      pipe.end();
      await ended;
    },
  };
}
