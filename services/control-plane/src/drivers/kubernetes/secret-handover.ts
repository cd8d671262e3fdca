import type { V1Container, V1Volume } from '@kubernetes/client-node';

/** The key of the Secret that holds one line: a JSON object of the variables that are secret. */
export const SECRETS_KEY = 'secrets';

const MEETING_POINT = '/run/runyard/handover';
const HELD = '/run/runyard/secrets';
const SERVED = '/run/runyard/served';

/**
 * Secrets reach a service of the platform on its standard input, as from every driver: what is in a container's environment or
 * in its files, the project's code could read, which runs there as the same user. They lie with a second, small container of
 * the pod. It hands them over once, and again only when nobody holds the second pipe any more: the service does so
 * from before it reads until its container has ended, with everything that ran in it.
 */
const HAND_OVER = `trap 'exit 0' TERM
[ -e ${SERVED}/once ] && { cat ${MEETING_POINT}/alive > /dev/null & wait $!; }
while :; do
  : > ${SERVED}/once
  cat ${HELD}/${SECRETS_KEY} > ${MEETING_POINT}/secrets & wait $!
  cat ${MEETING_POINT}/alive > /dev/null & wait $!
done`;

const TAKE_OVER = `exec 9<>${MEETING_POINT}/alive <${MEETING_POINT}/secrets; exec runyard-agent "$0"`;

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
    { name: 'served', emptyDir: inMemory },
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
      { name: 'served', mountPath: SERVED },
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
