const COLOURS: Record<string, string> = {
  good: 'text-good',
  wait: 'text-wait',
  fault: 'text-fault',
  plain: 'text-faint',
};

/** The kind of each status of runs, threads, deployments and revisions. */
const KINDS: Record<string, keyof typeof COLOURS> = {
  success: 'good',
  DEPLOYED: 'good',
  READY: 'good',
  pending: 'wait',
  running: 'wait',
  busy: 'wait',
  interrupted: 'wait',
  error: 'fault',
  timeout: 'fault',
};
const SIGNS: Record<string, string> = { good: '✓', wait: '●', fault: '✕', plain: '○' };

/** A status as a word with a sign, so that colour alone says nothing. */
export function Status({ status }: { status: string }) {
  const kind =
    KINDS[status] ?? (/FAILED|UNHEALTHY/.test(status) ? 'fault' : /ING$|AWAIT/.test(status) ? 'wait' : 'plain');
  return (
    <span className={`inline-flex items-center gap-1.5 whitespace-nowrap ${COLOURS[kind]}`}>
      <span aria-hidden="true">{SIGNS[kind]}</span>
      {status.toLowerCase().replaceAll('_', ' ')}
    </span>
  );
}
