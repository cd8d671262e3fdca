/**
 * Work that one process of a deployment does at a time.
 *
 * - `LeasedTask`: a task at every interval, in the process that has its lease.
 * - `Lease`: the lease of one process for use in a loop; `acquireLease`, `acquireLeases`, `releaseLease`: its statements.
 *
 * A task that every process does by itself needs no lease: `PeriodicTask` of service-kit.
 */
export { acquireLease, acquireLeases, Lease, releaseLease, releaseLeasesOf } from './lease.ts';
export { LeasedTask, leaseMsFor, type TaskLease } from './leased-task.ts';
