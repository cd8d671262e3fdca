import { apply, LABEL, NAMESPACE, runKubectl } from './kubectl.ts';

const FOLDER = '/var/tmp/runyard-test-volumes';
/** The user of the chart's pods. */
const USER = 1000;

/** The class of the volumes: no provisioner of the cluster makes others. */
export const STORAGE_CLASS = 'runyard-test';

/** Makes empty volumes, as folders of the node, for as many claims. */
export async function createVolumes(count: number, image: string): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `runyard-test-${index}`);
  await runOnNode(
    'make-volumes',
    image,
    `rm -rf /node/* && cd /node && mkdir ${names.join(' ')} && chown ${USER} ${names.join(' ')}`,
  );
  const [label = '', value] = LABEL.split('=');
  await apply(
    ...names.map((name) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name, labels: { [label]: value } },
      spec: {
        storageClassName: STORAGE_CLASS,
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '50Gi' },
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path: `${FOLDER}/${name}` },
      },
    })),
  );
}

/** Removes the folders, and with them all that is in the volumes. */
export async function removeVolumes(image: string): Promise<void> {
  await runKubectl('delete', 'persistentvolumes', '--selector', LABEL, '--wait=false');
  await runOnNode('remove-volumes', image, 'rm -rf /node/*');
}

/** Runs a command as root in the folder of the volumes, which is `/node` there, and waits for its end. */
async function runOnNode(name: string, image: string, command: string): Promise<void> {
  await apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      restartPolicy: 'Never',
      containers: [
        {
          name,
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', command],
          securityContext: { runAsUser: 0 },
          volumeMounts: [{ name: 'node', mountPath: '/node' }],
        },
      ],
      volumes: [{ name: 'node', hostPath: { path: FOLDER, type: 'DirectoryOrCreate' } }],
    },
  });
  const succeeded = '--for=jsonpath={.status.phase}=Succeeded';
  await runKubectl('wait', '--namespace', NAMESPACE, `pod/${name}`, succeeded, '--timeout=120s');
  await runKubectl('delete', '--namespace', NAMESPACE, `pod/${name}`);
}
