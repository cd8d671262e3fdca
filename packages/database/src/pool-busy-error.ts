/** Every connection of the pool was in use for as long as a caller waits. The database is available. */
export class PoolBusyError extends Error {
  constructor() {
    super('All connections of the pool are in use.');
    this.name = 'PoolBusyError';
  }
}
