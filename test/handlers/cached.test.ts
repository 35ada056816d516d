import t from 'tap'
import { isCacheable } from '../../src/handlers/cached.ts'

type Context = Parameters<typeof isCacheable>[0]

t.test('only a response that is the same for all permitted callers is cached', (t) => {
  const cached = {
    engine: { addedRequestHeaders: [] },
    operation: { cache: { seconds: 10, tags: [] } },
    listDecision: { visibility: 'all' },
    isPermittedHere: true,
  }
  const cases: readonly (readonly [claim: string, context: object, method: string, isSo: boolean])[] = [
    ['a GET of a cached row', {}, 'GET', true],
    ['a HEAD of one', {}, 'HEAD', false],
    ['a POST of one', {}, 'POST', false],
    ['a row without a cache', { operation: {} }, 'GET', false],
    [
      'items that the caller sees',
      { listDecision: { visibility: 'conditional', strategy: 'scan' } },
      'GET',
      false,
    ],
    ['a caller for whom nothing here has decided', { isPermittedHere: false }, 'GET', false],
    ['a header that the configuration adds', { engine: { addedRequestHeaders: ['x-a'] } }, 'GET', false],
    ['another header', { engine: { addedRequestHeaders: ['x-b'] } }, 'GET', true],
  ]
  for (const [claim, context, method, isSo] of cases) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- isCacheable reads only these members of a context
    const asked = { ...cached, ...context } as unknown as Context
    t.equal(isCacheable(asked, { method, headers: { 'x-a': '1' } }), isSo, claim)
  }
  t.end()
})
