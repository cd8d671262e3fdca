import { PrismaPg } from '@prisma/adapter-pg';
import { openServiceDatabase, type ServiceDatabase, type ServiceDatabaseOptions } from '@runyard/database';
import { type Prisma, PrismaClient } from '../generated/client.ts';

export type Database = ServiceDatabase<PrismaClient, Prisma.TransactionClient>;

export function openDatabase(
  options: Pick<
    ServiceDatabaseOptions<PrismaClient>,
    'connectionString' | 'poolSize' | 'preparedStatements' | 'migrationsDir'
  >,
): Promise<Database> {
  return openServiceDatabase<PrismaClient, Prisma.TransactionClient>({
    ...options,
    applicationName: 'runyard-registry',
    connect: (pool, transactionOptions) => new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions }),
  });
}
