import { type GraphLayout, layOut } from './graph-layout.ts';
import type { LayoutRequest } from './use-layout.ts';

declare const self: {
  onmessage: ((event: MessageEvent<LayoutRequest>) => void) | null;
  postMessage(layout: GraphLayout): void;
};

self.onmessage = ({ data: { model, direction } }) => self.postMessage(layOut(model, direction));
