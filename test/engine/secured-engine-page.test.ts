import { join } from 'node:path'
import { test } from 'tap'
import { freePort } from '../support/free-port.ts'
import { javaSkip } from '../support/requirements.ts'
import { runPage } from '../support/run-page.ts'
import { startEngine } from './engine.ts'

void test('the commands of docs/from-a-secured-engine.md print what the page says, in front of a secured engine', {
  skip: javaSkip,
  timeout: 600_000,
}, async (t) => {
  const db = `jdbc:h2:file:${join(t.testdir(), 'engine')}`
  let engine = await startEngine({ secured: true, db })
  t.teardown(() => engine.stop())
  const [api, admin] = [await freePort(), await freePort()]
  await runPage(t, {
    page: 'docs/from-a-secured-engine.md',
    without: [],
    before: {
      'engine-without-authorization': async () => {
        await engine.stop()
        engine = await startEngine({ db, port: engine.port })
      },
    },
    replaced: { '8081': String(engine.port), '8080': String(api), '9090': String(admin) },
  })
})
