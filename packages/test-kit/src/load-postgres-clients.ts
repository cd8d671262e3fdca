/**
 * Loads Prisma's adapter before any test. The adapter recognizes a pool only if both have the same copy of `pg`. After
 * tests that serve a graph host over a socket, Node was seen to resolve linked packages to other paths: an adapter that
 * is loaded then gets a second copy, and connects to the default address instead of through the pool.
 */
import '@prisma/adapter-pg';
