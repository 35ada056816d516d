/** The only caller. Its password is its name. */
export const USER = 'bench'
export const AUTHORIZATION = `Basic ${Buffer.from(`${USER}:${USER}`).toString('base64')}`

/** The body of a query: 270 bytes, as a task list sends it. */
export const QUERY_BODY = JSON.stringify({
  candidateGroups: ['accounting', 'management'],
  includeAssignedTasks: true,
  active: true,
  nameLike: '%invoice%',
  priorityHigherThanOrEquals: 10,
  processVariables: [{ name: 'amount', operator: 'gteq', value: 500 }],
  sorting: [{ sortBy: 'created', sortOrder: 'desc' }],
})

/** The body of a write: 270 bytes, as a client sends it to start an invoice. */
export const START_BODY = JSON.stringify({
  businessKey: 'order-4711',
  variables: {
    amount: { value: 555.5, type: 'Double' },
    creditor: { value: 'Great Pizza for Everyone Inc.', type: 'String' },
    invoiceCategory: { value: 'Travel Expenses', type: 'String' },
    invoiceNumber: { value: 'GPFE-23232323', type: 'String' },
  },
})

/** The body of a large write: 57 KB with 900 variables. */
export const LARGE_START_BODY = JSON.stringify({
  businessKey: 'order-4711',
  variables: Object.fromEntries(
    Array.from({ length: 900 }, (_, index) => [
      `variable${index}`,
      { value: `text of the variable ${index}`, type: 'String' },
    ]),
  ),
})

/** The body of a large query: 950 KB with 40,000 business keys. */
export const LARGE_QUERY_BODY = JSON.stringify({
  processInstanceBusinessKeyIn: Array.from(
    { length: 40_000 },
    (_, index) => `order-47110815-${100_000 + index}`,
  ),
})
