import { test } from 'tap'
import { freePort } from '../support/free-port.ts'
import { javaSkip } from '../support/requirements.ts'
import { runPage } from '../support/run-page.ts'
import { startEngine } from './engine.ts'

void test('the commands of docs/getting-started.md print what the page says, in front of a real engine', {
  skip: javaSkip,
  timeout: 900_000,
}, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  const [api, admin, redis] = [await freePort(), await freePort(), await freePort()]
  await runPage(t, {
    page: 'docs/getting-started.md',
    without: ['sandbox'],
    replaced: {
      '8081': String(engine.port),
      '8080': String(api),
      '9090': String(admin),
      '6379': String(redis),
    },
  })
})
