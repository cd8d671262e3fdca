import type { WebhookDelivery } from '@runyard/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { formatDuration, Time } from '../../components/time.tsx';
import type { RunPlace } from '../../platform/runs.ts';
import { redeliver, webhookDeliveriesQuery } from '../../platform/webhooks.ts';
import { useWorkspace } from '../../session/session.ts';

interface RunWebhooksProps {
  place: RunPlace;
  isRunning: boolean;
}

const SIGNS: Record<WebhookDelivery['status'], { sign: string; colour: string }> = {
  pending: { sign: '●', colour: 'text-wait' },
  delivered: { sign: '✓', colour: 'text-good' },
  failed: { sign: '✕', colour: 'text-fault' },
  refused: { sign: '✕', colour: 'text-fault' },
};
/** The pauses before an attempt that was asked for is looked for; a receiver has ten seconds to answer it. */
const AFTER_SENDING_MS = [1_000, 3_000, 7_000];
/** Buttons of deliveries that cannot be sent again say why. */
const NOT_AGAIN: Partial<Record<WebhookDelivery['status'], string>> = {
  delivered: 'It was delivered: what was sent is not stored any more',
};

/** Shows the receivers that a run told of its end, and how that went. Nothing is shown for a run without webhooks. */
export function RunWebhooks({ place, isRunning }: RunWebhooksProps) {
  const id = useId();
  // Webhooks are sent with the end of a run, so that there is nothing to ask for before.
  const deliveries = useQuery({ ...webhookDeliveriesQuery(place), enabled: !isRunning });
  if (isRunning || (!deliveries.error && !deliveries.data?.length)) return null;
  return (
    <section aria-labelledby={id} className="flex min-w-0 flex-col gap-2">
      <header className="flex flex-wrap items-center gap-3">
        <h2 id={id} className="text-sm font-semibold">
          Webhooks
        </h2>
        <Button
          size="small"
          unavailable={deliveries.isFetching ? 'They are being read' : undefined}
          onClick={() => void deliveries.refetch()}
        >
          Read again
        </Button>
      </header>
      <Fault error={deliveries.error} />
      <ul className="flex min-w-0 flex-col gap-2">
        {deliveries.data?.map((delivery) => (
          <Delivery key={delivery.delivery_id} {...{ place, delivery }} />
        ))}
      </ul>
    </section>
  );
}

function Delivery({ place, delivery }: { place: RunPlace; delivery: WebhookDelivery }) {
  const { may } = useWorkspace();
  const client = useQueryClient();
  const [said, setSaid] = useState('');
  const { queryKey } = webhookDeliveriesQuery(place);
  const again = useMutation({
    mutationFn: async () => {
      setSaid('');
      await redeliver(place, delivery.delivery_id);
      for (const ms of [0, ...AFTER_SENDING_MS]) {
        await new Promise((resolve) => setTimeout(resolve, ms));
        await client.invalidateQueries({ queryKey });
        const now = client.getQueryData(queryKey)?.find(({ delivery_id: id }) => id === delivery.delivery_id);
        if (now?.status !== 'pending' || now.attempts.length > delivery.attempts.length) return;
      }
    },
    onSuccess: () => setSaid('It was sent again'),
  });
  const { url, status, attempts, next_attempt_at: next } = delivery;
  const { sign, colour } = SIGNS[status];
  const unavailable =
    missingPermission(may('runs:update'), 'runs:update') ??
    NOT_AGAIN[status] ??
    (again.isPending ? 'It is being sent' : undefined);
  return (
    <li className="flex min-w-0 flex-col gap-2 rounded border border-line bg-card p-3">
      <div className="flex min-w-0 flex-wrap items-baseline gap-x-4 gap-y-1">
        <code className="min-w-0 [overflow-wrap:anywhere]">{url}</code>
        <span className={`whitespace-nowrap ${colour}`}>
          <span aria-hidden="true">{sign}</span> {status}
        </span>
        {next !== null && (
          <span className="text-faint">
            next attempt <Time at={next} />
          </span>
        )}
        <Button
          size="small"
          className="ml-auto"
          aria-label={`Send again to ${url}`}
          unavailable={unavailable}
          onClick={() => again.mutate()}
        >
          Send again
        </Button>
      </div>
      {attempts.length > 0 && <Attempts attempts={attempts} />}
      <p role="status" className="text-xs text-faint empty:hidden">
        {said}
      </p>
      <Fault error={again.error} />
    </li>
  );
}

/** The attempts of a delivery, oldest first. Those of an earlier sending stay among them. */
function Attempts({ attempts }: Pick<WebhookDelivery, 'attempts'>) {
  return (
    <ol className="flex list-inside list-decimal flex-col gap-0.5 text-xs marker:text-faint">
      {attempts.map(({ started_at: at, duration_ms: ms, status_code: code, error }) => (
        <li key={at} className="[overflow-wrap:anywhere]">
          <Time at={at} />
          <span className="text-faint">, {formatDuration(ms)}: </span>
          {error === null ? (
            <span className="text-good">taken with {code}</span>
          ) : (
            <span className="text-fault">
              {code === null || error.includes(String(code)) ? error : `${code} ${error}`}
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}
