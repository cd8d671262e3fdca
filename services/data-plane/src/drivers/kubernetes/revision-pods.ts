import type { V1Pod } from '@kubernetes/client-node';
import { type ReplicaRole, scaleBounds } from '@runyard/deployments';
import type { RevisionSpec } from '../driver.ts';
import { isLive, roleOf } from './pod-state.ts';
import type { PodWatch } from './pod-watch.ts';

/** Numbers the pods of a revision within their role and marks those that will be removed. */
export class RevisionPods {
  readonly #watch: PodWatch;
  readonly #spec: RevisionSpec;
  /** Numbers by the pods' uids. */
  readonly #numbers = new Map<string, number>();
  readonly #leaving = new Set<string>();

  constructor(watch: PodWatch, spec: RevisionSpec) {
    this.#watch = watch;
    this.#spec = spec;
  }

  /** Returns the pods in the order of their numbers. */
  all(): V1Pod[] {
    const pods = this.#watch.podsOf(this.#spec.revisionId).filter((pod) => roleOf(pod) !== undefined);
    return pods.sort((one, other) => this.#numberOf(one) - this.#numberOf(other));
  }

  /** Returns the pods that are not marked for removal. */
  findRemaining(role: ReplicaRole): V1Pod[] {
    return this.#findLive(role).filter((pod) => !this.#leaving.has(uidOf(pod)));
  }

  /** Returns the pod's name among the replicas of the revision: `agent-api`, `run-worker-2`. */
  nameOf(pod: V1Pod): string {
    const role = roleOf(pod)!;
    return scaleBounds(this.#spec.resources, role).max === 1 ? role : `${role}-${this.#numberOf(pod)}`;
  }

  markLeaving(pods: V1Pod[]): void {
    for (const pod of pods) this.#leaving.add(uidOf(pod));
  }

  /** Removes the marks when the cluster removed other pods instead. */
  unmarkLeaving(role: ReplicaRole, count: number): void {
    const lasting = this.#findLive(role);
    if (lasting.length <= count) for (const pod of lasting) this.#leaving.delete(uidOf(pod));
  }

  /** Forgets pods that do not exist any more. */
  forgetDeleted(): void {
    const present = new Set(this.#watch.podsOf(this.#spec.revisionId).map(uidOf));
    for (const uid of this.#numbers.keys()) if (!present.has(uid)) this.#numbers.delete(uid);
    for (const uid of this.#leaving) if (!present.has(uid)) this.#leaving.delete(uid);
  }

  #findLive(role: ReplicaRole): V1Pod[] {
    return this.all().filter((pod) => roleOf(pod) === role && isLive(pod));
  }

  #numberOf(pod: V1Pod): number {
    const known = this.#numbers.get(uidOf(pod));
    if (known !== undefined) return known;
    const present = this.#watch.podsOf(this.#spec.revisionId).filter((each) => roleOf(each) === roleOf(pod));
    const taken = new Set(present.map((each) => this.#numbers.get(uidOf(each))));
    let number = 1;
    while (taken.has(number)) number += 1;
    this.#numbers.set(uidOf(pod), number);
    return number;
  }
}

function uidOf(pod: V1Pod): string {
  return pod.metadata!.uid!;
}
