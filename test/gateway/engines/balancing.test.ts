import t from 'tap'
import { startNode } from '../../support/fake-engine.ts'
import { openGateway } from '../../support/open-gateway.ts'

t.test('with balancing: round-robin each node of an engine gets every second request', async (t) => {
  const received: string[] = []
  const startNamed = (name: string) =>
    startNode(t, (_request, response) => {
      received.push(name)
      response.setHeader('content-type', 'application/json')
      response.end('{"version":"7.24.0"}')
    })
  const nodes = [await startNamed('a'), await startNamed('b')].map(({ url }) => url)
  const { ask } = await openGateway(t, { engines: { default: { nodes, balancing: 'round-robin' } } })
  for (let request = 0; request < 6; request += 1) await ask('mary', 'GET /version')
  t.equal(received.join(''), 'ababab')
})
