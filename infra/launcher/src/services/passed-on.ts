/** Variables of control-plane that whoever starts the platform may set. */
const PASSED_ON = [
  'OUTBOUND_ALLOWED_NETWORKS',
  'LISTENER_LEASE_SECONDS',
  // Which container engine runs images, and how.
  'CONTAINER_ENGINE_COMMAND',
  'CONTAINER_NETWORK',
  'CONTAINER_HOST',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_CERT_PATH',
  'DOCKER_TLS_VERIFY',
  'XDG_RUNTIME_DIR',
];

/** What control-plane gets of the environment in which the platform is started, as it stands there. */
export function passedOn(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(PASSED_ON.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}
