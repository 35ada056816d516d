import t from 'tap'
import { createApiPreparation } from '../../src/assembly/build-api-documents.ts'

function enginesOf(calls: string[], ...names: readonly string[]) {
  return names.map((name) => ({
    possiblePermits: {
      find: async () => ({ operations: new Set<string>(), key: '' }),
      prepare: async () => {
        calls.push(name)
      },
    },
  }))
}

t.test('the start describes the operations, and searches once for all engines', async (t) => {
  const calls: string[] = []
  const documents = {
    prepare: async () => {
      calls.push('documents')
    },
  }
  await createApiPreparation(documents, enginesOf(calls, 'default', 'second')).start?.()
  t.same(calls, ['documents', 'default'])
})

t.test('without descriptions of the API, the start prepares nothing', async (t) => {
  const calls: string[] = []
  await createApiPreparation(null, enginesOf(calls, 'default')).start?.()
  t.same(calls, [])
})
