import t from 'tap'
import { createApiPreparation } from '../../src/assembly/build-api-documents.ts'

t.test('the start describes the operations', async (t) => {
  let calls = 0
  await createApiPreparation({ prepare: async () => void (calls += 1) }).start?.()
  t.equal(calls, 1)
})

t.test('without descriptions of the API, the start prepares nothing', (t) => {
  t.same(createApiPreparation(null), {})
  t.end()
})
