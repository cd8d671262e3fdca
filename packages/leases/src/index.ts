/**
 * Work that one process of a deployment does at a time.
 *
 * - `LeasedTask`: a task at every interval, in the process that has its lease.
 * - `Lease`: the lease of one process for use in a loop; `acquireLease`, `acquireLeases`, `releaseLease`: its statements.
 *
 * - `registerLeaseOwner`: an owner of leases that other processes of the machine free when it is killed.
 *
 * A task that every process does by itself needs no lease: `PeriodicTask` of service-kit.
 */
export { acquireLease, acquireLeases, Lease, releaseLease } from './lease.ts';
export { registerLeaseOwner } from './lease-owner.ts';
export { LeasedTask, leaseMsFor, type TaskLease } from './leased-task.ts';
