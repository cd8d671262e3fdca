import type { OrgMember } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { Confirm } from '../../../components/dialog.tsx';
import { removeMember } from '../../../platform/members.ts';
import { useWorkspace } from '../../../session/session.ts';

/** Asks before a member is removed. */
export function RemoveMember({ member, onClose }: { member: OrgMember; onClose: () => void }) {
  const { id: workspaceId } = useWorkspace();
  const client = useQueryClient();
  const remove = async () => {
    await removeMember(workspaceId, member.id);
    await client.invalidateQueries({ queryKey: ['members', workspaceId] });
  };
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Remove ${member.display_name}?`}
      description="Their personal access tokens and their sessions of single sign-on here end at once. Service keys that they made stay. To have them back, invite them again."
      action="Remove"
      isDangerous
      typed={member.email}
      onConfirm={remove}
    />
  );
}
