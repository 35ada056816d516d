import { listOperations } from '../list-operations.ts'
import { instancePermissions } from '../common-permissions.ts'
import type { Tag } from '../table.ts'

/** Event Subscription: 2 operations of the published API. */
export const eventSubscription = [
  listOperations({
    path: '/event-subscription',
    operations: {
      GET: { id: 'getEventSubscriptions', query: 'EventSubscriptionQuery' },
      'GET count': 'getEventSubscriptionsCount',
    },
    items: {
      anyOf: instancePermissions('READ', 'item'),
      prefilter: 'eventSubscriptions',
    },
  }),
] satisfies Tag
