import { test } from 'tap'
import { freePort } from '../support/free-port.ts'
import { runPage } from '../support/run-page.ts'

void test('the commands of docs/getting-started.md print what the page says, in front of the sandbox engine', async (t) => {
  const [engine, api, admin, redis] = [await freePort(), await freePort(), await freePort(), await freePort()]
  await runPage(t, {
    page: 'docs/getting-started.md',
    without: ['engine'],
    replaced: {
      '8081': String(engine),
      '8080': String(api),
      '9090': String(admin),
      '6379': String(redis),
      'run --silent sandbox': `run --silent sandbox -- --port ${engine}`,
    },
  })
})
