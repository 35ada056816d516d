import type { Rowset } from '../table.ts'

/** Event Subscription: 2 operations of the published API, sorted by path, then method. */
export const eventSubscription = {
  getEventSubscriptions: {
    route: 'GET /event-subscription',
    query: 'EventSubscriptionQuery',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
      query: 'eventSubscriptions',
    },
  },
  getEventSubscriptionsCount: {
    route: 'GET /event-subscription/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
      query: 'eventSubscriptions',
    },
  },
} satisfies Rowset
