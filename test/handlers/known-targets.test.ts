import t from 'tap'
import { createKnownTargets } from '../../src/handlers/known-targets.ts'
import type { ReceivedRequest } from '../../src/pipeline/context.ts'

function requestFor(originalUrl: string): ReceivedRequest {
  const request = {
    originalUrl,
    url: `/canonical${originalUrl}`,
    params: { key: 'a' },
    routeOptions: { config: { operation: null }, url: '/:key', bodyLimit: 10, handler: null },
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these members are read
  return request as unknown as ReceivedRequest
}

t.test('a target is found in the form in which it was sent', (t) => {
  const targets = createKnownTargets()
  t.equal(targets.find('/a'), undefined)
  targets.remember(requestFor('/a'))
  t.same(targets.find('/a'), {
    url: '/canonical/a',
    params: { key: 'a' },
    routeOptions: { config: { operation: null }, url: '/:key', bodyLimit: 10 },
    lastKey: { key: '', accept: undefined },
  })
  t.equal(targets.find('/a/'), undefined)
  t.equal(targets.find('/canonical/a'), undefined)
  t.end()
})

t.test('requests for one target share its parameters, which no stage can change', (t) => {
  const targets = createKnownTargets()
  targets.remember(requestFor('/a'))
  t.ok(Object.isFrozen(targets.find('/a')?.params))
  t.end()
})

t.test('if the memory is full, the target that was remembered first is forgotten', (t) => {
  const targets = createKnownTargets(2)
  for (const target of ['/a', '/b', '/a', '/c']) targets.remember(requestFor(target))
  t.same(
    ['/a', '/b', '/c'].map((target) => targets.find(target) !== undefined),
    [false, true, true],
  )
  t.end()
})

t.test('a long target is not remembered', (t) => {
  const targets = createKnownTargets()
  for (const length of [1024, 1025]) {
    const target = '/'.padEnd(length, 'a')
    targets.remember(requestFor(target))
    t.equal(targets.find(target) !== undefined, length === 1024)
  }
  t.end()
})
