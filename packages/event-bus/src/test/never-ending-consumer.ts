import { silentLogger } from '@runyard/service-kit';
import { createEventBus, type EventBusConfig } from '../index.ts';

const [config, group] = process.argv.slice(2);
const bus = createEventBus(JSON.parse(config!) as EventBusConfig, { logger: silentLogger });
await bus.subscribe({
  topics: ['organizations'],
  group: group!,
  from: 'latest',
  onEvent: (event) => {
    process.stdout.write(`begun ${event.id}\n`);
    return new Promise(() => undefined);
  },
});
process.stdout.write('subscribed\n');
