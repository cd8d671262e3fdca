/** A process that starts infrastructure and holds it until it is stopped: `hold.ts DATA_DIR NAME...`. */
import { startInfrastructure } from '../src/index.ts';

const [dataDir = '', ...want] = process.argv.slice(2);
const infrastructure = await startInfrastructure({
  dataDir,
  servers: want as ('postgres' | 'redis' | 'kafka')[],
  progress: (line) => console.log(line),
});
process.once('SIGTERM', () => infrastructure.stop().then(() => process.exit(0)));
console.log('holding');
