import { ASSIGN_TASK, READ_TASK } from '../common-permissions.ts'
import type { TagOperations } from '../table.ts'

/** Task Identity Link: 3 operations of the published API. */
export const taskIdentityLink = {
  getIdentityLinks: {
    route: 'GET /task/:id/identity-links',
    checks: [{ anyOf: READ_TASK, denied: 403 }],
    notFound: '500 NullValueException 0: Cannot find task with id {id}: task is null',
    crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot read the task '{id}' because it belongs to no authenticated tenant.",
  },
  addIdentityLink: {
    route: 'POST /task/:id/identity-links',
    checks: [{ anyOf: ASSIGN_TASK, denied: 403 }],
    notFound: '400 NotFoundException 0: Cannot find task with id {id}: task is null',
    crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot assign the task '{id}' because it belongs to no authenticated tenant.",
  },
  deleteIdentityLink: {
    route: 'POST /task/:id/identity-links/delete',
    checks: [{ anyOf: ASSIGN_TASK, denied: 403 }],
    notFound: '500 NullValueException 0: Cannot find task with id {id}: task is null',
    crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot assign the task '{id}' because it belongs to no authenticated tenant.",
  },
} satisfies TagOperations
