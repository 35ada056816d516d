import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { redeployedModels } from '../../../src/policy/validation/deployed-models.ts'
import type { AskEngine } from '../../../src/request/engine-request.ts'

const RESOURCES = ['a', 'b', 'c'].map((id) => ({ id, name: `${id}.bpmn` }))

/** Returns a node with three models, and the ids of those that were read. */
function openNode() {
  const read: string[] = []
  const ask: AskEngine = async ({ path }) => {
    const id = /\/resources\/(\w+)\/data$/.exec(path)?.[1]
    if (id === undefined) return { status: 200, body: Buffer.from(JSON.stringify(RESOURCES)) }
    read.push(id)
    return { status: 200, body: Buffer.from(id) }
  }
  return { ask, read }
}

t.test('after the deadline of the request no further model is read', async (t) => {
  const { ask, read } = openNode()
  const late = new Error('late')
  const checkDeadline = () => {
    if (read.length === 2) throw late
  }
  const models: string[] = []
  await t.rejects(async () => {
    const options = { deploymentId: 'd', body: {}, limitBytes: 100, checkDeadline }
    for await (const model of redeployedModels(ask, options)) models.push(model.toString())
  }, late)
  t.same(models, ['a', 'b'])
  t.same(read, ['a', 'b'])
})

t.test('an engine that does not respond is no reason to refuse the models', async (t) => {
  const { ask } = openNode()
  for (const failing of ['/resources', '/resources/b/data']) {
    const options = { deploymentId: 'd', body: {}, limitBytes: 100, checkDeadline: undefined }
    const models = redeployedModels(async (request) => {
      if (request.path.endsWith(failing)) throw new GatewayError('GW_NO_NODE')
      return ask(request)
    }, options)
    const readAll = async () => {
      for await (const model of models) t.ok(model.length > 0)
    }
    await t.rejects(readAll(), { code: 'GW_NO_NODE' }, failing)
  }
})
