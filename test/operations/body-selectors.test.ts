import t from 'tap'
import { compileSelectors } from '../../src/operations/body-selectors.ts'

t.test('queries are separated from the members whose ids are looked up', (t) => {
  t.same(
    compileSelectors({
      jobQuery: 'jobIds',
      processInstanceIds: 'queryProcessInstances(processInstanceIds[]).id',
      processInstances: 'queryJobs(processInstanceIds[]).processInstanceId',
      historicBatchIds: 'getHistoricBatches(batchId).id',
    }),
    {
      queries: { jobQuery: 'jobIds' },
      ids: {
        processInstanceIds: { list: 'queryProcessInstances', by: 'processInstanceIds' },
        processInstances: { list: 'queryJobs', by: 'processInstanceIds', gives: 'processInstanceId' },
        historicBatchIds: { list: 'getHistoricBatches', by: 'batchId', single: true },
      },
    },
  )
  t.end()
})

t.test('a lookup that cannot be read is refused', (t) => {
  t.throws(() => compileSelectors({ processInstances: 'queryJobs(a,b).id' }), {
    message: 'The table has the selector queryJobs(a,b).id, which is not a lookup of ids',
  })
  t.end()
})
