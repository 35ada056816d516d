import type { TagOperations } from '../table.ts'

/** Identity: 4 operations of the published API. */
export const identity = {
  getGroupInfo: {
    route: 'GET /identity/groups',
    checks: [],
    items: { form: 'groups', allOf: ['GROUP.READ item:group.id', 'USER.READ item:user.id'], crossTenant: 'ignored' },
  },
  getPasswordPolicy: {
    route: 'GET /identity/password-policy',
    checks: [],
    open: 'passwordPolicy',
  },
  checkPassword: {
    route: 'POST /identity/password-policy',
    effect: 'read',
    checks: [],
  },
  verifyUser: {
    route: 'POST /identity/verify',
    body: 'BasicUserCredentialsDto',
    checks: [{ anyOf: ['USER.READ body:username'], denied: 403 }],
    open: 'verify',
    handler: 'password check',
  },
} satisfies TagOperations
