import { listOperations } from '../list-operations.ts'
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
      anyOf: [
        'PROCESS_INSTANCE.READ item:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE item:processDefinitionKey',
      ],
      prefilter: 'eventSubscriptions',
    },
  }),
] satisfies Tag
