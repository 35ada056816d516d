import type { Rowset } from '../table.ts'

/** Identity: 4 operations of the published API, sorted by path, then method. */
export const identity = {
  getGroupInfo: {
    route: 'GET /identity/groups',
    checks: [],
    rows: { form: 'groups', allOf: ['GROUP.READ row:group.id', 'USER.READ row:user.id'], tenants: 'ignored' },
    retry: 'always',
  },
  getPasswordPolicy: {
    route: 'GET /identity/password-policy',
    checks: [],
    retry: 'always',
    open: 'passwordPolicy',
  },
  checkPassword: {
    route: 'POST /identity/password-policy',
    checks: [],
    retry: 'always',
  },
  verifyUser: {
    route: 'POST /identity/verify',
    checks: [{ anyOf: ['USER.READ body:username'], denied: 403 }],
    open: 'verify',
    openAnswer: 'password-verdict',
  },
} satisfies Rowset
