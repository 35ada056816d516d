import t from 'tap'
import { coalesce } from '../../../src/proxy/long-polls/coalesce.ts'
import { createFakeTime } from '../../support/fake-time.ts'

t.test('the first call runs at once, and the last call within a gap runs at its end', async (t) => {
  const time = createFakeTime()
  let works = 0
  const call = coalesce(() => (works += 1), 50, time.schedule)
  call()
  t.equal(works, 1)
  for (let i = 0; i < 10; i += 1) call()
  t.equal(works, 1)
  time.advance(50)
  t.equal(works, 2)
  time.advance(50)
  t.equal(works, 2, 'no call was left')
  call()
  t.equal(works, 3)
})
