import type { V1Container, V1Volume } from '@kubernetes/client-node';

/** The key of the Secret with one line: a JSON object of the secret variables. */
export const SECRETS_KEY = 'secrets';

const PIPES_MOUNT = '/run/runyard/handover';
const SECRETS_MOUNT = '/run/runyard/secrets';

/**
 * Hands the secrets over to the platform's service on its standard input, as every driver does. The project's code runs
 * in the service's container as the same user, and could read the container's environment and files. Therefore a
 * second, small container of the pod holds the secrets: the giver. It gives them once, and again only when all
 * processes of the service's container have ended.
 *
 * Giver and service share two pipes, and a file that only the giver can create and remove:
 *
 *     secrets   the line of secrets, from the giver to the service
 *     alive     held open by the service, from before it reads the secrets until its container ends
 *     taken     exists from before the giver writes until it has seen that nobody holds `alive` any more
 *
 *     service  GATE   wait while `taken` exists         giver  OPEN   open `secrets`: waits for a service that reads
 *              HOLD   open `alive`                             TAKEN  create `taken`
 *              READ   open `secrets`: waits for OPEN           WRITE  the line; fails when nobody reads
 *                                                              END    unless it failed: wait until nobody holds `alive`
 *                                                              FREE   remove `taken`, and again from OPEN
 *
 * A service that restarts may be at any of its steps while the giver is at any of its own. Its predecessor has ended
 *
 *     while the giver waits for END    The new service stops at GATE and does not hold `alive`. However late the giver
 *                                      notices the end, FREE lets the new service continue.
 *     between OPEN and WRITE           The new service is at GATE, or passed it before TAKEN. If it has reached READ,
 *                                      it gets the line. If not, WRITE fails: the giver does not wait for the end of a
 *                                      service that holds `alive` and has no secrets, but offers them again. A service
 *                                      that reaches READ just when the failed attempt ends reads an empty line, and
 *                                      restarts.
 *     between WRITE and its reading    `taken` existed before the new service began: as in the first case.
 *     before OPEN, or after FREE       The secrets were not given: the new service is like a first one.
 *
 * A giver that restarts continues with END if `taken` exists, and with OPEN otherwise. The project's code runs from the
 * time its service has read the secrets until the container ends. `taken` exists all that time, so the giver writes
 * nothing that the code could read.
 */
const HAND_OVER = `trap 'exit 0' TERM
cd ${PIPES_MOUNT}
until_nobody_is_alive() {
  exec 7<>alive 8<alive 7>&-
  cat <&8 > /dev/null & wait $!
  exec 8<&-
}
[ ! -e taken ] || until_nobody_is_alive
while :; do
  rm -f taken
  { : > taken; exec cat ${SECRETS_MOUNT}/${SECRETS_KEY}; } > secrets & wait $! && until_nobody_is_alive
done`;

/** Seconds between checks of GATE. */
const LOOK_SECONDS = 0.1;
const TAKE_OVER = `while [ -e ${PIPES_MOUNT}/taken ]; do sleep ${LOOK_SECONDS}; done
exec 9<>${PIPES_MOUNT}/alive <${PIPES_MOUNT}/secrets; exec runyard-agent "$0"`;

/** The exit code for an image that is not built from the base image. */
export const FOREIGN_IMAGE_CODE = 64;

/** The message of an image whose project authenticates its callers itself. */
export const CUSTOM_AUTH = 'custom auth';

/**
 * Creates the pipes. Reports whether the image is built from the base image, and whether its `LANGGRAPH_AUTH` has a
 * path.
 */
const PREPARE = `command -v runyard-agent > /dev/null || exit ${FOREIGN_IMAGE_CODE}
cd ${PIPES_MOUNT} && { [ -p alive ] || mkfifo -m 600 alive; } && { [ -p secrets ] || mkfifo -m 600 secrets; } || exit 1
[ -z "$LANGGRAPH_AUTH" ] || node -e '
if (typeof JSON.parse(process.env.LANGGRAPH_AUTH)?.path === "string") process.stdout.write("${CUSTOM_AUTH}")
' > /dev/termination-log || true`;

const shell = (script: string, ...args: string[]) => ['/bin/sh', '-c', script, ...args];

export const PREPARING_CONTAINER = 'prepare';
const PIPES_VOLUME = 'handover';
/** The container starts Node.js once. */
const PREPARING = { requests: { cpu: '5m', memory: '8Mi' }, limits: { memory: '128Mi' } };
const SMALL = { requests: { cpu: '5m', memory: '8Mi' }, limits: { memory: '32Mi' } };

export function handoverVolumes(secretName: string): V1Volume[] {
  const inMemory = { medium: 'Memory', sizeLimit: '1Mi' };
  return [
    { name: PIPES_VOLUME, emptyDir: inMemory },
    { name: 'secrets', secret: { secretName, defaultMode: 0o440 } },
  ];
}

type Common = Pick<V1Container, 'image' | 'imagePullPolicy' | 'securityContext'>;

export function prepareContainer(common: Common): V1Container {
  return {
    ...common,
    name: PREPARING_CONTAINER,
    command: shell(PREPARE),
    resources: PREPARING,
    volumeMounts: [{ name: PIPES_VOLUME, mountPath: PIPES_MOUNT }],
  };
}

export function secretsContainer(common: Common): V1Container {
  return {
    ...common,
    name: 'secrets',
    command: shell(HAND_OVER),
    resources: SMALL,
    volumeMounts: [
      { name: PIPES_VOLUME, mountPath: PIPES_MOUNT },
      { name: 'secrets', mountPath: SECRETS_MOUNT, readOnly: true },
    ],
  };
}

/**
 * Returns the command and mounts of the service's container. The mount is read-only, so nobody in it can replace the
 * pipes.
 */
export function serviceCommand(role: string): Pick<V1Container, 'command' | 'volumeMounts'> {
  return {
    command: shell(TAKE_OVER, role),
    volumeMounts: [{ name: PIPES_VOLUME, mountPath: PIPES_MOUNT, readOnly: true }],
  };
}
