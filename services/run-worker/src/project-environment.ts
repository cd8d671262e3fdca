/** Variables of the worker that the project's code may see as well: none of them is a secret of the platform. */
const INHERITED = [
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

/**
 * The whole environment of the process that runs the project's code: an allow-list, then what the project's `env` says, then
 * what the deployment was given. Nothing else of the worker's own gets through.
 */
export function projectEnvironment(sources: {
  own: Record<string, string | undefined>;
  project: Record<string, string>;
  deployment: Record<string, string>;
}): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = sources.own[name];
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...sources.project, ...sources.deployment };
}
