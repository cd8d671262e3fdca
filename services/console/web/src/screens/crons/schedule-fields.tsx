import { useId } from 'react';
import { TextField } from '../../components/field.tsx';
import type { CronDraft, CronField } from './cron-draft.ts';

interface ScheduleFieldsProps {
  draft: CronDraft;
  faultOf(field: CronField): string | undefined;
  onChange(part: Partial<CronDraft>): void;
}

/** The times at which a cron makes runs: its schedule, the zone that it is in, and its end. */
export function ScheduleFields({ draft, faultOf, onChange }: ScheduleFieldsProps) {
  const zones = useId();
  return (
    <>
      <TextField
        label="Schedule"
        hint="Minute, hour, day of month, month, weekday, such as 0 9 * * MON-FRI; or @hourly, @daily, @weekly, @monthly, @yearly"
        required
        autoComplete="off"
        spellCheck={false}
        value={draft.schedule}
        fault={faultOf('schedule')}
        onChange={({ target }) => onChange({ schedule: target.value })}
      />
      <TextField
        label="Time zone"
        hint="That of the schedule, such as Europe/Berlin; empty: UTC"
        autoComplete="off"
        spellCheck={false}
        list={zones}
        value={draft.timezone}
        fault={faultOf('timezone')}
        onChange={({ target }) => onChange({ timezone: target.value })}
      />
      <datalist id={zones}>
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <TextField
        label="End (optional)"
        hint="No run is made after it. The time is that of this browser."
        type="datetime-local"
        value={draft.endTime}
        fault={faultOf('endTime')}
        onChange={({ target }) => onChange({ endTime: target.value })}
      />
    </>
  );
}
