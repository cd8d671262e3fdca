import type { AuditEvent } from '@runyard/contracts';
import { Fragment, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { JsonView } from '../../../components/json-view.tsx';
import { Cell, HeadCell, Row, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';

/** Events of the audit trail; each opens to all that is known of it. */
export function AuditTable({ events, names }: { events: readonly AuditEvent[]; names: ReadonlyMap<string, string> }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  return (
    <Table
      caption="Events of the audit trail, the newest first"
      columns={['Event', 'When', 'Who', 'What', 'From', 'Details']}
    >
      {events.map((event) => {
        const isOpen = open.has(event.id);
        return (
          <Fragment key={event.id}>
            <Row>
              <HeadCell>
                {event.action}
                <span className="block text-xs font-normal text-faint">
                  #{event.sequence} {event.operation}
                </span>
              </HeadCell>
              <Cell label="When">
                <Time at={event.occurred_at} />
              </Cell>
              <Cell label="Who">{actorOf(event, names)}</Cell>
              <Cell label="What">
                {event.resource_type}
                <span className="block text-xs text-faint">
                  {event.resource_id && (names.get(event.resource_id) ?? event.resource_id)}
                </span>
              </Cell>
              <Cell label="From">{event.address ?? '–'}</Cell>
              <td className="px-3 py-2 align-baseline max-md:block">
                <Button
                  size="small"
                  aria-expanded={isOpen}
                  onClick={() => toggle(event.id)}
                  aria-label={`Open event ${event.sequence}`}
                >
                  {isOpen ? 'Close' : 'Open'}
                </Button>
              </td>
            </Row>
            {isOpen && (
              <tr className="border-b border-line max-md:block">
                <td colSpan={6} className="px-3 pb-3 max-md:block">
                  <JsonView name={`event ${event.sequence}`} value={event} />
                </td>
              </tr>
            )}
          </Fragment>
        );
      })}
    </Table>
  );
}

function actorOf(
  { actor_id: id, person_id: person, actor_kind: kind }: AuditEvent,
  names: ReadonlyMap<string, string>,
) {
  const name = (id && names.get(id)) ?? (person && names.get(person));
  return (
    <>
      {name ?? (id || kind.replaceAll('_', ' '))}
      {(name ?? id) && <span className="block text-xs text-faint">{kind.replaceAll('_', ' ')}</span>}
    </>
  );
}
