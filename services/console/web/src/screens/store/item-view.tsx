import type { Item } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Loading } from '../../components/loading.tsx';
import { Time } from '../../components/time.tsx';
import { deleteItem, itemQuery, type Namespace, putItem, type StorePlace } from '../../platform/store.ts';
import { useWorkspace } from '../../session/session.ts';
import { ItemForm } from './item-form.tsx';
import { EMPTY_ITEM, type ItemDraft, putRequestOf } from './item-request.ts';
import { KeyText } from './key-text.tsx';

interface ItemViewProps {
  place: StorePlace;
  namespace: Namespace;
  itemKey: string;
  /** Leads back to the items. */
  onLeave(): void;
}

/** One item with its value. */
export function ItemView({ place, namespace, itemKey, onLeave }: ItemViewProps) {
  const item = useQuery(itemQuery(place, namespace, itemKey));
  return (
    <section aria-labelledby="item" className="flex min-w-0 flex-col gap-3">
      <Button size="small" look="quiet" className="self-start" onClick={onLeave}>
        <span aria-hidden="true">←</span> Back to the items
      </Button>
      <h3 id="item" className="text-base font-semibold [overflow-wrap:anywhere]">
        <KeyText text={itemKey} />
      </h3>
      <Fault error={item.error} onRetry={() => void item.refetch()} />
      {item.isPending && <Loading what="the item" />}
      {item.data === null && <Empty title="There is no such item">It was deleted, or its time was over.</Empty>}
      {item.data && <Shown {...{ place, onLeave }} item={item.data} />}
    </section>
  );
}

function Shown({ place, item, onLeave }: { place: StorePlace; item: Item; onLeave(): void }) {
  const { may } = useWorkspace();
  const client = useQueryClient();
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const [said, setSaid] = useState('');
  const close = () => setOpened(undefined);
  const readAgain = () => client.invalidateQueries({ queryKey: ['store', place.workspaceId, place.deploymentId] });
  const save = async (draft: ItemDraft) => {
    await putItem(place, { ...putRequestOf(draft), namespace: item.namespace, key: item.key });
    await readAgain();
    setSaid('The item was saved');
    close();
  };
  const remove = async () => {
    await deleteItem(place, item.namespace, item.key);
    onLeave();
    void readAgain();
  };
  const unavailable = missingPermission(may('runs:update'), 'runs:update');
  return (
    <>
      <dl className="flex flex-wrap gap-x-8 gap-y-2">
        <div>
          <dt className="text-xs text-faint">Created</dt>
          <dd>
            <Time at={item.created_at} />
          </dd>
        </div>
        <div>
          <dt className="text-xs text-faint">Changed</dt>
          <dd>
            <Time at={item.updated_at} />
          </dd>
        </div>
      </dl>
      <div className="flex flex-wrap gap-2">
        <Button unavailable={unavailable} onClick={() => setOpened('edit')}>
          Edit …
        </Button>
        <Button look="danger" unavailable={unavailable} onClick={() => setOpened('delete')}>
          Delete …
        </Button>
      </div>
      <p role="status" className="text-xs text-faint">
        {said}
      </p>
      <JsonView value={item.value} name="value" />
      {opened === 'edit' && (
        <Dialog
          isOpen
          onClose={close}
          title="Edit the item"
          description={`${item.namespace.join(' › ')} › ${item.key}`}
        >
          <Edit item={item} onCancel={close} onSave={save} />
        </Dialog>
      )}
      <Confirm
        isOpen={opened === 'delete'}
        onClose={close}
        title={`Delete ${item.key || 'the item'}?`}
        description={`It is deleted from ${item.namespace.join(' › ')}. That cannot be undone.`}
        action="Delete"
        isDangerous
        onConfirm={remove}
      />
    </>
  );
}

function Edit({ item, ...rest }: { item: Item; onCancel(): void; onSave(draft: ItemDraft): Promise<unknown> }) {
  // The item may be written by a graph while somebody writes here.
  const [start] = useState<ItemDraft>(() => ({
    ...EMPTY_ITEM,
    namespace: item.namespace.join('.'),
    key: item.key,
    value: item.value,
  }));
  return <ItemForm {...rest} start={start} isNamed />;
}
