import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { queryParametersOf } from '../../../src/operations/published/query-parameters.ts'

/** The kind of one parameter each. Undefined: the engine does not read the parameter, or only some versions do. */
const KINDS: readonly (readonly [operation: string, parameter: string, kind: string | undefined])[] = [
  ['getJobs', 'firstResult', 'page'],
  ['queryJobs', 'maxResults', 'page'],
  ['executeFilterList', 'firstResult', 'page'],
  ['getJobsCount', 'firstResult', undefined],
  ['getJobs', 'sortBy', 'criterion'],
  ['getJobs', 'sortOrder', 'order'],
  ['getJobs', 'jobId', 'text'],
  ['getJobs', 'jobIds', 'texts'],
  ['getJobs', 'active', 'boolean'],
  ['getJobs', 'priorityLowerThanOrEquals', 'long'],
  ['getProcessDefinitions', 'version', 'integer'],
  ['getDeployments', 'after', 'date'],
  ['getJobs', 'acquired', undefined],
  ['getJobs', 'noSuchParameter', undefined],
  // The published type is a text. The type of the member of the body is exact.
  ['getTasks', 'dueAfter', 'date'],
  ['getTasks', 'processVariables', 'variables'],
  ['getJobs', 'dueDates', 'conditions'],
  // A count reads the order, although it does not sort.
  ['getJobsCount', 'sortBy', 'criterion'],
  ['getTasksCount', 'followUp', 'date'],
  ['getTasks', 'followUpBefore', 'date'],
  ['getTasks', 'candidateGroups', 'list'],
  // The engine reads any text as one of these flags.
  ['getFilterList', 'itemCount', 'text'],
  ['getHistoricDetails', 'deserializeValues', 'text'],
  ['getTaskVariables', 'deserializeValues', 'text'],
  ['getTopicNames', 'withLockedTasks', 'text'],
  ['deleteDeployment', 'cascade', 'text'],
  ['queryHistoricDetails', 'deserializeValues', 'text'],
  ['getHistoricDecisionInstances', 'includeInputs', 'boolean'],
  ['getHistoricDecisionInstance', 'includeInputs', 'text'],
  ['getBatches', 'startedAfter', 'text'],
  ['getBatchStatistics', 'startedAfter', 'date'],
  ['interval', 'firstResult', 'integer'],
  ['interval', 'interval', 'long'],
  // Only newer engines have this operation.
  ['countTaskComments', 'text', undefined],
]

t.test('the kind of a parameter follows from the published API and from the query in a body', (t) => {
  for (const [id, parameter, kind] of KINDS)
    t.equal(queryParametersOf({ id }).kinds.get(parameter), kind, `${id} ${parameter}`)
  t.end()
})

t.test('the message about a bad value names the parameter, except for metrics', (t) => {
  for (const id of ['getJobs', 'getHistoricTaskInstanceReport'])
    t.equal(queryParametersOf({ id }).isNamed, true, id)
  for (const id of ['getMetrics', 'interval', 'deleteTaskMetrics'])
    t.equal(queryParametersOf({ id }).isNamed, false, id)
  t.end()
})

t.test('every list of the table that is paged reads the page', (t) => {
  const paged = OPERATIONS.filter(({ id }) => queryParametersOf({ id }).kinds.get('firstResult') === 'page')
  t.ok(paged.length > 50, `${paged.length} lists`)
  t.same(
    paged.filter(({ template }) => template.endsWith('/count')).map(({ id }) => id),
    [],
  )
  t.end()
})
