import t from 'tap'
import { ApiDocuments } from '../../src/api-document/api-documents.ts'
import { OPERATIONS } from '../../src/operations/all.ts'

function openDocuments(): ApiDocuments {
  return new ApiDocuments({
    operations: OPERATIONS,
    engines: [{ name: 'default', release: null, schemes: ['basic'] }],
    basePath: '/engine-rest',
    hasIdempotencyKeys: false,
  })
}

const TASKS = {
  engine: 'default',
  isEngineNamed: false,
  of: 'caller',
  ids: new Set(['getTasks']),
  key: 'tasks',
} as const

t.test('equal requests at the same time share one document', async (t) => {
  const documents = openDocuments()
  const [one, other] = await Promise.all([documents.document(TASKS), documents.document(TASKS)])
  t.equal(one, other)
  t.equal(await documents.document(TASKS), one, 'and later requests get it too')
})

t.test('requests of callers with other operations do not share a document', async (t) => {
  const documents = openDocuments()
  const [one, other] = await Promise.all([
    documents.document(TASKS),
    documents.document({ ...TASKS, ids: new Set(['getTask']), key: 'task' }),
  ])
  t.not(one.etag, other.etag)
})

t.test('the preparation does not change the document', async (t) => {
  const documents = openDocuments()
  await documents.prepare()
  t.same(await documents.document(TASKS), await openDocuments().document(TASKS))
})
