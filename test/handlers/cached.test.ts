import t from 'tap'
import { findHit, isCacheable } from '../../src/handlers/cached.ts'

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

t.test('the key of a request with a long Accept is used, and not kept', (t) => {
  const keys: string[] = []
  const [dependencies, context, request] = [
    { cache: { peekHit: (key: string) => (keys.push(key) > 0 ? null : undefined) } },
    {
      engine: { name: 'default', addedRequestHeaders: [] },
      operation: { cache: { seconds: 10, tags: [] }, template: '/a' },
      accessRequest: { params: {} },
      listDecision: { visibility: 'all' },
      isPermittedHere: true,
    },
    { url: '/a', method: 'GET' },
  ]
  const last = { key: '', accept: undefined }
  const find = (accept: string): void => {
    const asked = { ...request, headers: { accept } }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- findHit reads only these members
    const parts = [dependencies, context, asked] as unknown as Parameters<typeof findHit>
    t.equal(findHit(parts[0], parts[1], parts[2], last), null)
  }
  const [short, long] = ['a'.repeat(512), 'b'.repeat(513)]
  for (const accept of [short, long]) find(accept)
  t.match(keys, [short, long])
  t.same(last, { key: keys[0], accept: short })
  t.end()
})
