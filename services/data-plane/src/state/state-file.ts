import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DesiredDeployment } from '@runyard/contracts';
import type { Counts } from '@runyard/deployments';
import type { Cipher } from '@runyard/encryption';
import type { PullCredential } from '../drivers/pull-credential.ts';

/** The state with which a data plane can start while its control plane is unreachable. */
export interface DataPlaneState {
  /** Distinguishes this data plane from others of the same listener. */
  instanceId: string;
  deployments: DesiredDeployment[];
  /** The keys that verify principal tokens; null until the control plane has sent them. */
  keySet: { keys: Record<string, unknown>[] } | null;
  /** State that only this data plane has, by deployment. */
  own: Record<string, LocalDeploymentState>;
}

export interface LocalDeploymentState {
  /** The encrypted password of the database that was created here, under its name in files of earlier releases. */
  sealedDatabasePassword?: string;
  /** True when the serving revision authenticates its callers itself. */
  hasCustomAuth?: boolean;
  /** The path below which a revision serves everything. It is ignored while another revision is active. */
  mounted?: { revisionId: string; prefix: string | null };
  /** The base URLs of the serving revision. They stay valid over a restart if the revision outlives this process. */
  upstreams?: string[];
  /** The last process counts. */
  counts?: Counts;
  /** The last credentials for its images in the platform's registry, by image name. */
  pulledWith?: Record<string, PullCredential>;
}

const PLACE = 'data-plane/state';

/** Stores the state in one encrypted file, because it contains the secrets of deployments. */
export class StateFile {
  readonly #path: string;
  readonly #cipher: Cipher;
  #saving: Promise<void> = Promise.resolve();
  /** The write that has not begun: whoever saves meanwhile shares it. */
  #next: Promise<void> | undefined;
  readonly state: DataPlaneState;

  private constructor(path: string, cipher: Cipher, state: DataPlaneState) {
    this.#path = path;
    this.#cipher = cipher;
    this.state = state;
  }

  static async open(dataDir: string, cipher: Cipher): Promise<StateFile> {
    await mkdir(dataDir, { recursive: true });
    const path = join(dataDir, 'data-plane.sealed');
    const encrypted = existsSync(path) ? await readFile(path, 'utf8') : null;
    if (encrypted !== null) return new StateFile(path, cipher, JSON.parse(cipher.decrypt(encrypted, PLACE)));
    const stateFile = new StateFile(path, cipher, { instanceId: randomUUID(), deployments: [], keySet: null, own: {} });
    await stateFile.save();
    return stateFile;
  }

  /** Returns the deployment's own state. The caller saves it after changes. */
  localStateOf(deploymentId: string): LocalDeploymentState {
    const { own } = this.state;
    own[deploymentId] ??= {};
    return own[deploymentId];
  }

  /** Resolves when the current state is on the disk. */
  save(): Promise<void> {
    this.#next ??= this.#saving.then(async () => {
      this.#next = undefined;
      const aside = `${this.#path}.part`;
      const encrypted = this.#cipher.encrypt(JSON.stringify(this.state), PLACE);
      await writeFile(aside, encrypted, { mode: 0o600, flush: true });
      await rename(aside, this.#path);
    });
    this.#saving = this.#next.catch(() => undefined);
    return this.#next;
  }
}
