import type { V1Container, V1Volume } from '@kubernetes/client-node';

/** The key of the Secret that holds one line: a JSON object of the variables that are secret. */
export const SECRETS_KEY = 'secrets';

const MEETING_POINT = '/run/runyard/handover';
const HELD = '/run/runyard/secrets';

/**
 * Secrets reach a service of the platform on its standard input, as from every driver: what is in a container's environment or
 * in its files, the project's code could read, which runs there as the same user. They lie with a second, small container of
 * the pod, the giver. It gives them once, and again only when everything that ran in the service's container has ended.
 *
 * Two pipes, and a file that only the giver can make and remove:
 *
 *     secrets   the line of secrets, from the giver to the service
 *     alive     held open by the service, from before it reads the secrets until its container ends
 *     taken     there from before the giver writes until it has seen that nobody holds `alive` any more
 *
 *     service  GATE   wait while `taken` is there       giver  OPEN   open `secrets`: waits for a service that reads
 *              HOLD   open `alive`                             TAKEN  make `taken`
 *              READ   open `secrets`: waits for OPEN           WRITE  the line; fails when nobody reads
 *                                                              END    unless it failed: wait until nobody holds `alive`
 *                                                              FREE   remove `taken`, and again from OPEN
 *
 * A service that is started again may be at any of its steps while the giver is at any of its own. Let the one before have ended
 *
 *     while the giver waits for END    The new one stops at GATE and does not hold `alive`: however long the giver takes to notice the
 *                                      end, it does. FREE lets the new one on.
 *     between OPEN and WRITE           The new one is at GATE, or past it before TAKEN. If it has come to READ, it gets the line. If
 *                                      not, WRITE fails: the giver does not wait for the end of one who holds `alive` and has nothing,
 *                                      but offers it anew. Who comes to READ in the instant in which that attempt ends finds it empty,
 *                                      and is started once more.
 *     between WRITE and its reading    `taken` was there before the new one began: as in the first case.
 *     before OPEN, or after FREE       Nothing was given: the new one is like a first one.
 *
 * A giver that is started again goes on with END where `taken` is there, and with OPEN elsewhere. Code of the project runs from when
 * its service has read until its container ends: all that time `taken` is there, and nothing is written that it could read.
 */
const HAND_OVER = `trap 'exit 0' TERM
cd ${MEETING_POINT}
until_nobody_is_alive() {
  exec 7<>alive 8<alive 7>&-
  cat <&8 > /dev/null & wait $!
  exec 8<&-
}
[ ! -e taken ] || until_nobody_is_alive
while :; do
  rm -f taken
  { : > taken; exec cat ${HELD}/${SECRETS_KEY}; } > secrets & wait $! && until_nobody_is_alive
done`;

/** How often GATE is looked at. */
const LOOK_SECONDS = 0.1;
const TAKE_OVER = `while [ -e ${MEETING_POINT}/taken ]; do sleep ${LOOK_SECONDS}; done
exec 9<>${MEETING_POINT}/alive <${MEETING_POINT}/secrets; exec runyard-agent "$0"`;

/** The exit code of an image that is not built from the base image. */
export const FOREIGN_IMAGE_CODE = 64;

/** The message of an image whose project checks its callers itself. */
export const CUSTOM_AUTH = 'custom auth';

/** Makes the pipes; tells whether the image is one of ours, and whether it has an `auth` with a path, as its builder wrote it. */
const PREPARE = `command -v runyard-agent > /dev/null || exit ${FOREIGN_IMAGE_CODE}
cd ${MEETING_POINT} && { [ -p alive ] || mkfifo -m 600 alive; } && { [ -p secrets ] || mkfifo -m 600 secrets; } || exit 1
[ -z "$LANGGRAPH_AUTH" ] || node -e '
if (typeof JSON.parse(process.env.LANGGRAPH_AUTH)?.path === "string") process.stdout.write("${CUSTOM_AUTH}")
' > /dev/termination-log || true`;

const shell = (script: string, ...args: string[]) => ['/bin/sh', '-c', script, ...args];

export const PREPARING_CONTAINER = 'prepare';
const MEETING_VOLUME = 'handover';
/** Node starts once in it. */
const PREPARING = { requests: { cpu: '5m', memory: '8Mi' }, limits: { memory: '128Mi' } };
const SMALL = { requests: { cpu: '5m', memory: '8Mi' }, limits: { memory: '32Mi' } };

export function handoverVolumes(secretName: string): V1Volume[] {
  const inMemory = { medium: 'Memory', sizeLimit: '1Mi' };
  return [
    { name: MEETING_VOLUME, emptyDir: inMemory },
    { name: 'secrets', secret: { secretName, defaultMode: 0o440 } },
  ];
}

type Common = Pick<V1Container, 'image' | 'imagePullPolicy' | 'securityContext'>;

export function preparingContainer(common: Common): V1Container {
  return {
    ...common,
    name: PREPARING_CONTAINER,
    command: shell(PREPARE),
    resources: PREPARING,
    volumeMounts: [{ name: MEETING_VOLUME, mountPath: MEETING_POINT }],
  };
}

export function handingContainer(common: Common): V1Container {
  return {
    ...common,
    name: 'secrets',
    command: shell(HAND_OVER),
    resources: SMALL,
    volumeMounts: [
      { name: MEETING_VOLUME, mountPath: MEETING_POINT },
      { name: 'secrets', mountPath: HELD, readOnly: true },
    ],
  };
}

/** What the service's own container has of it. Nobody in it can replace the pipes. */
export function takingOver(role: string): Pick<V1Container, 'command' | 'volumeMounts'> {
  return {
    command: shell(TAKE_OVER, role),
    volumeMounts: [{ name: MEETING_VOLUME, mountPath: MEETING_POINT, readOnly: true }],
  };
}
