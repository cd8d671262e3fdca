import { attribute, type Schema } from './attribute.ts';

const ENTERPRISE_SCHEMA_ID = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

export const ENTERPRISE_SCHEMA: Schema = {
  id: ENTERPRISE_SCHEMA_ID,
  name: 'EnterpriseUser',
  description: 'What employers know of a user.',
  attributes: [
    attribute('employeeNumber', 'The number of the employee.'),
    attribute('costCenter', 'The cost center.'),
    attribute('organization', 'The organization of the employer.'),
    attribute('division', 'The division.'),
    attribute('department', 'The department.'),
    attribute('manager', 'The manager of the user.', {
      type: 'complex',
      subAttributes: [
        attribute('value', 'The id of the manager.'),
        attribute('$ref', 'The address of the manager.', { type: 'reference', referenceTypes: ['User'] }),
        attribute('displayName', 'The name of the manager.', { mutability: 'readOnly' }),
      ],
    }),
  ],
};
