import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Dialog } from '../../components/dialog.tsx';
import { type Namespace, putItem, readItem, type StorePlace } from '../../platform/store.ts';
import { ItemForm } from './item-form.tsx';
import { EMPTY_ITEM, type ItemDraft, putRequestOf } from './item-request.ts';

interface CreateItemProps {
  place: StorePlace;
  /** The namespace that the form begins with. */
  namespace: Namespace;
  onClose(): void;
}

/** Makes an item, and opens it. One of the same name is not overwritten. */
export function CreateItem({ place, namespace, onClose }: CreateItemProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const save = async (draft: ItemDraft) => {
    const request = putRequestOf(draft);
    if (await readItem(place, request.namespace, request.key))
      throw new Error('Key: there is an item of that name already. Open it to change it');
    await putItem(place, request);
    void client.invalidateQueries({ queryKey: ['store', place.workspaceId, place.deploymentId] });
    onClose();
    await navigate({
      to: '/w/$workspaceId/deployments/$deploymentId/store',
      params: { ...place },
      search: { namespace: request.namespace, key: request.key },
    });
  };
  return (
    <Dialog isOpen onClose={onClose} title="New item" description="Graphs of the deployment find it in their store.">
      <ItemForm
        start={{ ...EMPTY_ITEM, namespace: namespace.join('.') }}
        isNamed={false}
        onCancel={onClose}
        onSave={save}
      />
    </Dialog>
  );
}
