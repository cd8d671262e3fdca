/**
 * The variables that a process of the platform passes to those it starts: what programs need to run and to reach the
 * network, nothing of the platform and no secret. Everything down to the project's code gets just these.
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
  'VIRTUAL_ENV',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
];

/** Returns the variables of an environment that the machine has for every program. */
export function machineEnvironment(environment: Record<string, string | undefined>): Record<string, string> {
  const entries = MACHINE.map((name) => [name, environment[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
