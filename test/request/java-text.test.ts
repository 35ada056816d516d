import t from 'tap'
import { hashOrder } from '../../src/request/java-text.ts'
t.test('keys are sorted as a hash table of Java lists them', async (t) => {
  // As the engine names one of several bad parameters (Camunda 7.24.0).
  for (const [keys, first] of [
    [['finished', 'canceled'], 'canceled'],
    [['sortBy', 'sortOrder'], 'sortOrder'],
    [['startedBefore', 'startedAfter'], 'startedAfter'],
    [['finished', 'sortBy'], 'finished'],
    [['startedAfter', 'sortOrder'], 'sortOrder'],
    [['incidents', 'canceled', 'finished', 'startedAfter'], 'canceled'],
  ] as const)
    t.equal(hashOrder(keys)[0], first, keys.join())
})
