import { attribute, multiValued, type Schema } from './attribute.ts';

const USER_SCHEMA_ID = 'urn:ietf:params:scim:schemas:core:2.0:User';

export const USER_SCHEMA: Schema = {
  id: USER_SCHEMA_ID,
  name: 'User',
  description: 'A person in the organization.',
  attributes: [
    attribute('userName', 'Names the user at the identity provider. The work address where it is missing.', {
      required: true,
      uniqueness: 'server',
    }),
    attribute('name', 'The parts of the name.', {
      type: 'complex',
      subAttributes: [
        attribute('formatted', 'The whole name, as it is shown.'),
        attribute('familyName', 'The family name.'),
        attribute('givenName', 'The given name.'),
        attribute('middleName', 'The middle names.'),
        attribute('honorificPrefix', 'A title before the name.'),
        attribute('honorificSuffix', 'A title after the name.'),
      ],
    }),
    attribute('displayName', 'The name that is shown.'),
    attribute('nickName', 'A casual name.'),
    attribute('profileUrl', 'A page about the user.', { type: 'reference', referenceTypes: ['external'] }),
    attribute('title', 'The job title.'),
    attribute('userType', 'The relation to the organization.'),
    attribute('preferredLanguage', 'The preferred languages.'),
    attribute('locale', 'The locale of numbers and dates.'),
    attribute('timezone', 'The time zone.'),
    attribute(
      'active',
      'False: the user cannot sign in, and has neither sessions nor personal tokens. True by default.',
      {
        type: 'boolean',
        required: true,
      },
    ),
    multiValued(
      'emails',
      'Email addresses. One of the type work, or the primary or first one, is that of the member.',
      {
        types: ['work', 'home', 'other'],
        required: true,
      },
    ),
    multiValued('phoneNumbers', 'Telephone numbers.', { types: ['work', 'home', 'mobile', 'fax', 'pager', 'other'] }),
    multiValued('ims', 'Addresses for instant messages.'),
    multiValued('photos', 'Addresses of pictures.', {
      types: ['photo', 'thumbnail'],
      value: { type: 'reference', referenceTypes: ['external'] },
    }),
    attribute('addresses', 'Postal addresses.', {
      type: 'complex',
      multiValued: true,
      subAttributes: [
        attribute('formatted', 'The whole address.'),
        attribute('streetAddress', 'Street and house.'),
        attribute('locality', 'The town.'),
        attribute('region', 'The state or region.'),
        attribute('postalCode', 'The postal code.'),
        attribute('country', 'The country.'),
        attribute('type', 'Tells addresses apart by their use.', { canonicalValues: ['work', 'home', 'other'] }),
        attribute('primary', 'True for the preferred address; at most one is.', { type: 'boolean' }),
      ],
    }),
    attribute('groups', 'The groups of the user, which are changed by the groups.', {
      type: 'complex',
      multiValued: true,
      mutability: 'readOnly',
      subAttributes: [
        attribute('value', 'The id of the group.', { mutability: 'readOnly' }),
        attribute('$ref', 'The address of the group.', {
          type: 'reference',
          referenceTypes: ['Group'],
          mutability: 'readOnly',
        }),
        attribute('display', 'The name of the group.', { mutability: 'readOnly' }),
        attribute('type', 'Always direct: groups have no groups.', {
          mutability: 'readOnly',
          canonicalValues: ['direct'],
        }),
      ],
    }),
    multiValued('entitlements', 'What the user may have elsewhere. It gives no role here.'),
    multiValued('roles', 'The roles of the user elsewhere. They give none here: groups do.'),
    multiValued('x509Certificates', 'Certificates of the user.', { value: { type: 'binary' } }),
  ],
};
