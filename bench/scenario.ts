/** The only caller; its password is its name. */
export const USER = 'bench'
export const AUTHORIZATION = `Basic ${Buffer.from(`${USER}:${USER}`).toString('base64')}`

/** Of a query: 270 bytes, as a task list asks. */
export const QUERY_BODY = JSON.stringify({
  candidateGroups: ['accounting', 'management'],
  includeAssignedTasks: true,
  active: true,
  nameLike: '%invoice%',
  priorityHigherThanOrEquals: 10,
  processVariables: [{ name: 'amount', operator: 'gteq', value: 500 }],
  sorting: [{ sortBy: 'created', sortOrder: 'desc' }],
})

/** Of a write: 300 bytes, as a client starts an invoice. */
export const START_BODY = JSON.stringify({
  businessKey: 'order-4711',
  variables: {
    amount: { value: 555.5, type: 'Double' },
    creditor: { value: 'Great Pizza for Everyone Inc.', type: 'String' },
    invoiceCategory: { value: 'Travel Expenses', type: 'String' },
    invoiceNumber: { value: 'GPFE-23232323', type: 'String' },
  },
})
