export { BuildReceiver } from './build-receiver.ts';
export { BuildSender } from './build-sender.ts';
export { buildQueueVariables } from './queue-settings.ts';
