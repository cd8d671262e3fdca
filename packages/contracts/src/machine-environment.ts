/**
 * What a process of the platform hands on of its own environment to those it starts: what makes programs run and reach the
 * world, nothing of the platform and no secret. Everything down to the project's code gets just this.
 */
const MACHINE = [
  'PATH',
  'HOME',
  'USER',
  'SHELL',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SystemRoot',
  'NODE_ENV',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
];

/** Of an environment, what the machine says to every program on it. */
export function machineEnvironment(environment: Record<string, string | undefined>): Record<string, string> {
  const entries = MACHINE.map((name) => [name, environment[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
