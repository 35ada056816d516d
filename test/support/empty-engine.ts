import type { AuthorizeOptions } from '../../src/policy/authz/checks/authorize-options.ts'

/** Options of decisions at an engine without entities, and without administrators. */
export const EMPTY_ENGINE = {
  adminGroups: [],
  adminUsers: [],
  lookUp: () => null,
  lookUpAll: async () => new Map(),
  findTargets: async () => null,
  isOwn: async () => false,
  findCondition: async () => null,
  tenantsOfKey: async () => [],
  implicitGrants: null,
  impliesIdentity: false,
  checksTenants: false,
} satisfies Omit<AuthorizeOptions, 'records'>
